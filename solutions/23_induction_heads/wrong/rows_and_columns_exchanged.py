"""Rows and columns are exchanged, where the future is hidden: the row attends, weights[t, t − period + 1]."""


def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    stripe = weights.diagonal(period - 1, dim1=-2, dim2=-1)  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe[..., 1:].mean(dim=-1)  # (…)
