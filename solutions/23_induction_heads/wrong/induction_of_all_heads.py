"""One induction score is given for all heads: give one for each matrix, of shape (…)."""


def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    stripe = weights.diagonal(1 - period, dim1=-2, dim2=-1)  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe[..., 1:].mean()  # (…)
