"""The mask holds the floats 1 and 0: it shall be a bool tensor of True and False."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions[:, None] - positions  # (T, T)
    return ((distance >= 0) & (distance < window)).float()
