"""The second half is worked out from the first half that was changed already: keep the old one for it."""


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:
    tokens, half = x.shape[-2], x.shape[-1] // 2
    cos, sin = cos[offset : offset + tokens], sin[offset : offset + tokens]  # (T, h) each
    first, second = x[..., :half], x[..., half:]  # (B, H, T, h / 2) each
    first = first * cos[:, :half] - second * sin[:, :half]
    second = second * cos[:, half:] + first * sin[:, half:]
    return torch.cat([first, second], dim=-1).to(x.dtype)  # (B, H, T, h)
