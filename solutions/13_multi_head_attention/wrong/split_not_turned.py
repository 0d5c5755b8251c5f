"""split_heads leaves the heads behind the tokens, (B, T, H, d / H): swap the two dimensions."""


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    return x.reshape(x.shape[0], x.shape[1], num_heads, -1)  # (B, T, H, d / H)
