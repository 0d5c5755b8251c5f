"""split_heads makes d / H pieces of H numbers: it is H pieces of d / H numbers."""


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    pieces = x.reshape(x.shape[0], x.shape[1], -1, num_heads)  # (B, T, H, d / H)
    return pieces.transpose(1, 2)  # (B, H, T, d / H)
