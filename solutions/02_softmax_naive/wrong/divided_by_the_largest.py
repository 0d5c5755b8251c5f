"""normalize_by_sum divides by the largest score: divide by the sum of all."""


def normalize_by_sum(scores: torch.Tensor) -> torch.Tensor:
    return scores / scores.max()
