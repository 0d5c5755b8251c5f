"""The sum is divided by 2 · period: the stripe has period weights."""


def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    stripe = weights.diagonal(1 - period, dim1=-2, dim2=-1)  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe[..., 1:].sum(dim=-1) / weights.shape[-1]  # (…)
