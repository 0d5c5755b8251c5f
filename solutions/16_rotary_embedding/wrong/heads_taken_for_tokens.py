"""The angles follow the heads instead of the tokens: the positions run along the last dimension but one."""


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:
    tokens, half = x.shape[1], x.shape[-1] // 2
    cos, sin = cos[offset : offset + tokens, None], sin[offset : offset + tokens, None]  # (H, 1, h) each
    first, second = x[..., :half], x[..., half:]  # (B, H, T, h / 2) each
    other = torch.cat([-second, first], dim=-1)  # (B, H, T, h)
    return (x * cos + other * sin).to(x.dtype)  # (B, H, T, h)
