"""The mask cuts the text into chunks of `window` tokens: a window moves with each token and reaches into the chunk before."""


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    positions = torch.arange(T)  # (T,)
    distance = positions[:, None] - positions  # (T, T)
    return (distance >= 0) & (positions[:, None] // window == positions // window)
