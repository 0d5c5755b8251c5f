"""The score is of the token before, in the second half: take weights[t, t − period + 1]."""


def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    stripe = weights.diagonal(-1, dim1=-2, dim2=-1)  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe[..., period - 1 :].mean(dim=-1)  # (…)
