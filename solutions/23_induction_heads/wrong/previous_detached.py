"""The score is cut from the graph: gradients must reach the weights."""


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    return weights.detach().diagonal(-1, dim1=-2, dim2=-1).mean(dim=-1)  # (…, T - 1) -> (…)
