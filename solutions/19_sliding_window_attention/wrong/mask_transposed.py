"""The mask is transposed: the row is the token that looks, the column the one that is looked at."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions - positions[:, None]  # (T, T)
    return (distance >= 0) & (distance < window)  # (T, T)
