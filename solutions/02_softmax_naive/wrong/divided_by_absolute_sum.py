"""normalize_by_sum sums the scores without their signs: divide by the plain sum."""


def normalize_by_sum(scores: torch.Tensor) -> torch.Tensor:
    return scores / scores.abs().sum()
