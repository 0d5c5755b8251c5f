"""The score is the largest weight: it is the mean of them all."""


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    return weights.diagonal(-1, dim1=-2, dim2=-1).amax(dim=-1)  # (…, T - 1) -> (…)
