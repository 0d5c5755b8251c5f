"""apply_rope turns neighbours (0, 1), (2, 3), … as interleaved layouts (GPT-J) do: here number i goes with number i + h / 2."""


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:
    tokens, half = x.shape[-2], x.shape[-1] // 2
    cos, sin = cos[offset : offset + tokens], sin[offset : offset + tokens]  # (T, h) each
    first, second = x[..., 0::2], x[..., 1::2]  # (B, H, T, h / 2) each
    cos, sin = cos[:, :half], sin[:, :half]  # (T, h / 2) each
    turned = torch.stack([first * cos - second * sin, second * cos + first * sin], dim=-1)
    return turned.flatten(-2).to(x.dtype)  # (B, H, T, h)
