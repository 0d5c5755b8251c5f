"""normalize_by_sum divides by the length of the scores as a vector: divide by their sum."""


def normalize_by_sum(scores: torch.Tensor) -> torch.Tensor:
    return scores / scores.norm()  # (T,)
