"""apply_rope calls its argument start. The lesson calls it offset: callers may use the name."""


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, start: int = 0) -> torch.Tensor:
    offset = start
    tokens, half = x.shape[-2], x.shape[-1] // 2
    cos, sin = cos[offset : offset + tokens], sin[offset : offset + tokens]  # (T, h) each
    first, second = x[..., :half], x[..., half:]  # (B, H, T, h / 2) each
    other = torch.cat([-second, first], dim=-1)  # (B, H, T, h)
    return (x * cos + other * sin).to(x.dtype)  # (B, H, T, h)
