"""The weights come back one by one: the score is their mean."""


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    return weights.diagonal(-1, dim1=-2, dim2=-1)  # (…, T - 1) -> (…)
