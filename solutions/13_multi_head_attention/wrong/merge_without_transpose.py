"""merge_heads joins without swapping heads and tokens back: the numbers of several tokens get into one row."""


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(x.shape[0], x.shape[2], -1)  # (B, T, H * h)
