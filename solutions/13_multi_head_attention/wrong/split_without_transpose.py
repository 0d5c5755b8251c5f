"""split_heads cuts straight to (B, H, T, d / H): a head then gets numbers of several tokens. Cut the last dimension alone, then swap tokens and heads."""


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    return x.reshape(x.shape[0], num_heads, x.shape[1], -1)  # (B, H, T, d / H)
