"""Each half is mixed with itself: in the term with the sine, the two halves of a head must change places."""


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:
    tokens, half = x.shape[-2], x.shape[-1] // 2
    cos, sin = cos[offset : offset + tokens], sin[offset : offset + tokens]  # (T, h) each
    first, second = x[..., :half], x[..., half:]  # (B, H, T, h / 2) each
    other = torch.cat([first, -second], dim=-1)  # (B, H, T, h)
    return (x * cos + other * sin).to(x.dtype)  # (B, H, T, h)
