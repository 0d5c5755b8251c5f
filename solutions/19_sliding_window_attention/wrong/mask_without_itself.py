"""The mask hides the token itself: the window begins with it and goes back to the window − 1 tokens before it."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions[:, None] - positions  # (T, T)
    return (distance > 0) & (distance <= window)
