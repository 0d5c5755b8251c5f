"""The score is of the token two before: take weights[t, t − 1]."""


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    return (
        torch.nn.functional.pad(weights, (1, 0))[..., :-1].diagonal(-1, dim1=-2, dim2=-1).mean(dim=-1)
    )  # (…, T - 1) -> (…)
