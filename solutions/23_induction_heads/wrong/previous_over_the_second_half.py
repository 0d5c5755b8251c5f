"""Only the second half of the tokens counts: take all from t = 1 on."""


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    return weights.diagonal(-1, dim1=-2, dim2=-1)[..., (weights.shape[-1] - 1) // 2 :].mean(dim=-1)  # (…, T - 1) -> (…)
