"""The score is of the second token after the first occurrence: take weights[t, t − period + 1]."""


def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    stripe = weights.diagonal(2 - period, dim1=-2, dim2=-1)  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe[..., 2:].mean(dim=-1)  # (…)
