"""normalize_by_sum adds a small number to the sum: scores as small as it then get other weights."""


def normalize_by_sum(scores: torch.Tensor) -> torch.Tensor:
    return scores / (scores.sum() + 1e-9)  # (T,)
