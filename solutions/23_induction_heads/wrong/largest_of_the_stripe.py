"""The score is the largest weight of the stripe: it is the mean of them all."""


def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    stripe = weights.diagonal(1 - period, dim1=-2, dim2=-1)  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe[..., 1:].amax(dim=-1)  # (…)
