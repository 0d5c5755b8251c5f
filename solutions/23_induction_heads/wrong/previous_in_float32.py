"""The score is computed in float32, whatever the weights are: keep their dtype."""


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    return weights.float().diagonal(-1, dim1=-2, dim2=-1).mean(dim=-1)  # (…, T - 1) -> (…)
