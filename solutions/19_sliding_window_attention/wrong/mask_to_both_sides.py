"""The mask shows window − 1 tokens on both sides, also those to come: here a token looks back alone."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions[:, None] - positions  # (T, T)
    return distance.abs() < window
