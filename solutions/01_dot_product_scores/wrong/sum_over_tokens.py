"""attention_scores_for_query sums over the tokens: each token keeps its own score, so sum over d."""


def attention_scores_for_query(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    return (inputs * query).sum(dim=0)  # (d,)
