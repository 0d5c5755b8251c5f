"""causal_mask is True everywhere: a token may not attend to the tokens after it."""


def causal_mask(T: int) -> torch.Tensor:
    return torch.ones(T, T, dtype=torch.bool)  # (T, T)
