"""split_heads deals the numbers out one by one: head 0 gets the first d / H numbers of a token, not every H-th."""


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    pieces = x.reshape(x.shape[0], x.shape[1], -1, num_heads)  # (B, T, d / H, H)
    return pieces.permute(0, 3, 1, 2)  # (B, H, T, d / H)
