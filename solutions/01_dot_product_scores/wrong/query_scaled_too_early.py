"""attention_scores_for_query divides by √d: scaling comes later, here the scores are bare dot products."""


def attention_scores_for_query(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    return inputs @ query / query.shape[-1] ** 0.5  # (T, d) @ (d,) -> (T,)
