"""The halves are swapped before the sign is set, so that first · sin is taken away from the first half."""


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:
    tokens, half = x.shape[-2], x.shape[-1] // 2
    cos, sin = cos[offset : offset + tokens], sin[offset : offset + tokens]  # (T, h) each
    first, second = x[..., :half], x[..., half:]  # (B, H, T, h / 2) each
    other = torch.cat([-first, second], dim=-1)  # (B, H, T, h)
    return (x * cos + other * sin).to(x.dtype)  # (B, H, T, h)
