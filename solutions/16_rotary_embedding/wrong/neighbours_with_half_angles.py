"""The pairs in apply_rope are neighbours, while cos and sin are laid out in halves: the two layouts are mixed."""


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:
    tokens, half = x.shape[-2], x.shape[-1] // 2
    cos, sin = cos[offset : offset + tokens], sin[offset : offset + tokens]  # (T, h) each
    first, second = x[..., 0::2], x[..., 1::2]  # (B, H, T, h / 2) each
    other = torch.stack([-second, first], dim=-1).flatten(-2)  # (B, H, T, h)
    return (x * cos + other * sin).to(x.dtype)  # (B, H, T, h)
