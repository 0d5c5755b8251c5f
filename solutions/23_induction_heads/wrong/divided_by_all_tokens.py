"""The sum is divided by T: the first token has no token before it, so there are T − 1 weights."""


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    return weights.diagonal(-1, dim1=-2, dim2=-1).sum(dim=-1) / weights.shape[-1]  # (…, T - 1) -> (…)
