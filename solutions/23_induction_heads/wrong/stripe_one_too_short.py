"""The stripe misses its first or its last row: t runs from period to 2 · period − 1."""


def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    stripe = weights.diagonal(1 - period, dim1=-2, dim2=-1)  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe[..., 2:].mean(dim=-1)  # (…)
