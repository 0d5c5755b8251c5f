"""The mask shows half a window on each side, as Longformer does: here the whole window lies behind the token."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions[:, None] - positions  # (T, T)
    return distance.abs() <= window // 2
