"""The mask holds 0 and −inf, to be added to scores: here it is a bool tensor, True where a token may attend."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions[:, None] - positions  # (T, T)
    return torch.zeros(T, T).masked_fill((distance < 0) | (distance >= window), -torch.inf)
