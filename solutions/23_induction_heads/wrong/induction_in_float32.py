"""The induction score is computed in float32, whatever the weights are: keep their dtype."""


def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    stripe = weights.float().diagonal(1 - period, dim1=-2, dim2=-1)  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe[..., 1:].mean(dim=-1)  # (…)
