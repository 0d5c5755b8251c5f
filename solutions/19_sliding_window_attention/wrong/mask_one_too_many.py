"""The mask shows one token too many: from i − window to i they are window + 1, but the token itself counts too."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions[:, None] - positions  # (T, T)
    return (distance >= 0) & (distance <= window)
