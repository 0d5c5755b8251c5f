"""normalize_by_sum divides in place: that changes the scores of whoever called it."""


def normalize_by_sum(scores: torch.Tensor) -> torch.Tensor:
    scores /= scores.sum()
    return scores
