"""merge_heads deals the heads’ numbers out one by one: all numbers of head 0 come first, then all of head 1."""


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    return x.permute(0, 2, 3, 1).flatten(-2)  # (B, T, H, h) -> (B, T, H * h)
