"""The mask is True where a token is hidden, as masked_fill wants it: here True means that it may attend."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions[:, None] - positions  # (T, T)
    return (distance < 0) | (distance >= window)
