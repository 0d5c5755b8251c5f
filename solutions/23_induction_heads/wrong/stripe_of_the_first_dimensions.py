"""induction_score takes the diagonal of the first two dimensions, as diagonal does unless it is told: name the last two."""


def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    stripe = weights.diagonal(1 - period)  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe[..., 1:].mean(dim=-1)  # (…)
