"""The score is the share of tokens that look back most of all: it is the mean of the weights."""


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    return weights.diagonal(-1, dim1=-2, dim2=-1).gt(0.5).to(weights.dtype).mean(dim=-1)  # (…, T - 1) -> (…)
