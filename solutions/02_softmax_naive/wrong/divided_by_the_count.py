"""normalize_by_sum divides by the number of scores: divide by their sum."""


def normalize_by_sum(scores: torch.Tensor) -> torch.Tensor:
    return scores / len(scores)
