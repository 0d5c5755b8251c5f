"""The mask has dimensions for batch and heads: its shape is (T, T)."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions[:, None] - positions  # (T, T)
    return ((distance >= 0) & (distance < window))[None, None]
