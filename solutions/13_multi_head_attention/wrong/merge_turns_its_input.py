"""merge_heads turns its input itself: transpose_ with an underscore changes x, which belongs to the caller. Use transpose."""


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    return x.transpose_(1, 2).flatten(-2)  # (B, T, H, h) -> (B, T, H * h)
