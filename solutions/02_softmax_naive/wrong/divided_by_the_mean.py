"""normalize_by_sum divides by the mean of the scores: divide by their sum."""


def normalize_by_sum(scores: torch.Tensor) -> torch.Tensor:
    return scores / scores.mean()  # (T,)
