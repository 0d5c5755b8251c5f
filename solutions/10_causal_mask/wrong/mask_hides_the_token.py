"""causal_mask ends below the diagonal: each token may attend to itself."""


def causal_mask(T: int) -> torch.Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril(diagonal=-1)  # (T, T)
