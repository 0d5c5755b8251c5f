"""The turned halves come back in exchanged places: the first half of the result belongs to the first half of x."""


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:
    tokens, half = x.shape[-2], x.shape[-1] // 2
    cos, sin = cos[offset : offset + tokens], sin[offset : offset + tokens]  # (T, h) each
    first, second = x[..., :half], x[..., half:]  # (B, H, T, h / 2) each
    other = torch.cat([-second, first], dim=-1)  # (B, H, T, h)
    turned = x * cos + other * sin  # (B, H, T, h)
    return torch.cat([turned[..., half:], turned[..., :half]], dim=-1).to(x.dtype)
