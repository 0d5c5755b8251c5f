"""The mask shows the very first tokens to everybody (attention sinks do so): a window holds the token and those just before."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions[:, None] - positions  # (T, T)
    return (distance >= 0) & ((distance < window) | (positions == 0))
