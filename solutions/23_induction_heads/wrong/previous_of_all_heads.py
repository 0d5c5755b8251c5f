"""One number is given for all heads: give one for each matrix, of shape (…)."""


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean()  # (…, T - 1) -> (…)
