"""attention_scores_for_query divides the query by its length: the scores are bare dot products."""


def attention_scores_for_query(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    return inputs @ (query / query.norm())
