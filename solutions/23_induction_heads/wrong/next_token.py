"""The score is of the next token, which is hidden: take weights[t, t − 1]."""


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    return weights.diagonal(1, dim1=-2, dim2=-1).mean(dim=-1)  # (…, T - 1) -> (…)
