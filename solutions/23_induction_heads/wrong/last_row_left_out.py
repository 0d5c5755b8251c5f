"""The last row is left out: t runs up to 2 · period − 1."""


def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    stripe = weights.diagonal(1 - period, dim1=-2, dim2=-1)  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe[..., 1:-1].mean(dim=-1)  # (…)
