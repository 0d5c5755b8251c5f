"""causal_mask is True above the diagonal: a token may look back, not ahead, so take tril instead of triu."""


def causal_mask(T: int) -> torch.Tensor:
    return torch.ones(T, T, dtype=torch.bool).triu()  # (T, T)
