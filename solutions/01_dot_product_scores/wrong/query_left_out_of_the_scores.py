"""attention_scores_for_query never uses the query: it sums each token’s own entries."""


def attention_scores_for_query(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    return inputs.sum(dim=-1)  # (T, d) @ (d,) -> (T,)
