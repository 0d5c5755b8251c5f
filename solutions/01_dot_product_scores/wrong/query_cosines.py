"""attention_scores_for_query divides by the lengths of both vectors: that gives cosines, and scores are bare dot products."""


def attention_scores_for_query(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    return torch.cosine_similarity(inputs, query[None], dim=-1)  # (T, d) @ (d,) -> (T,)
