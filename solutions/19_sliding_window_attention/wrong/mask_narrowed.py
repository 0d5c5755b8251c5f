"""The mask hides a token of a window that exceeds T: no limit is needed, distances are below T anyway."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions[:, None] - positions  # (T, T)
    return (distance >= 0) & (distance < min(window, T - 1))
