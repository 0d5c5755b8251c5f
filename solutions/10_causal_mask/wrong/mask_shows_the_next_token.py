"""causal_mask reaches one place past the diagonal: each token then sees the next one."""


def causal_mask(T: int) -> torch.Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril(diagonal=1)  # (T, T)
