"""The row before the second half is summed too, and the sum is divided by the period: t runs from period on."""


def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    stripe = weights.diagonal(1 - period, dim1=-2, dim2=-1)  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe.sum(dim=-1) / period  # (…)
