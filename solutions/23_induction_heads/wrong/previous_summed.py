"""The weights are summed: the score is their mean, from 0 to 1."""


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    return weights.diagonal(-1, dim1=-2, dim2=-1).sum(dim=-1)  # (…, T - 1) -> (…)
