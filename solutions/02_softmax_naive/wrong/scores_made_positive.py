"""normalize_by_sum takes the absolute scores: a negative score keeps its sign."""


def normalize_by_sum(scores: torch.Tensor) -> torch.Tensor:
    return scores.abs() / scores.abs().sum()  # (T,)
