"""The score is of the first occurrence itself, t − period: an induction head looks one further, t − period + 1."""


def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    stripe = weights.diagonal(-period, dim1=-2, dim2=-1)  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe.mean(dim=-1)  # (…)
