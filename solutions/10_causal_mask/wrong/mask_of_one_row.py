"""causal_mask gives one row of True: it is a square, T rows and T columns."""


def causal_mask(T: int) -> torch.Tensor:
    return torch.ones(1, T, dtype=torch.bool)  # (T, T)
