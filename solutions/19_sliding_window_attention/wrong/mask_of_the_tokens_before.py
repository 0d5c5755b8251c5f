"""The mask hides the token itself: from i − window + 1 to i, its own column is one of the window's."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions[:, None] - positions  # (T, T)
    return (distance > 0) & (distance < window)  # (T, T)
