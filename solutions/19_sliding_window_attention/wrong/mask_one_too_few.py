"""The mask shows one token too few: with itself a token sees `window` of them, from i − window + 1 to i."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions[:, None] - positions  # (T, T)
    return (distance >= 0) & (distance < window - 1)  # (T, T)
