"""attention_scores_for_query gives a matrix of one row, (1, T): expected are T scores, shape (T,)."""


def attention_scores_for_query(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    return query[None] @ inputs.T  # (T, d) @ (d,) -> (T,)
