"""induction_score calls its argument T. The lesson calls it period: callers may use the name."""


def induction_score(weights: torch.Tensor, T: int) -> torch.Tensor:
    period = T
    stripe = weights.diagonal(1 - period, dim1=-2, dim2=-1)  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe[..., 1:].mean(dim=-1)  # (…)
