"""The score is of the first token, on which idle heads rest: take weights[t, t − 1]."""


def previous_token_score(weights: torch.Tensor) -> torch.Tensor:
    return weights[..., 1:, 0].mean(dim=-1)  # (…, T - 1) -> (…)
