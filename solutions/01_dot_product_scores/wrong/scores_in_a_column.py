"""attention_scores_for_query gives a column (T, 1): expected are T scores in a row, shape (T,)."""


def attention_scores_for_query(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    return inputs @ query.unsqueeze(1)  # (T, 1)
