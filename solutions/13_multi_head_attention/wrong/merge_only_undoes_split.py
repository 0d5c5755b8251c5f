"""merge_heads uses view after transpose, which works for what split_heads gave and fails for a tensor in usual order: use reshape, or contiguous first."""


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    return x.transpose(1, 2).view(x.shape[0], x.shape[2], -1)  # (B, T, H * h)
