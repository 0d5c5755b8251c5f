"""Angles and pairs are interleaved, as in GPT-J: here it is the half layout of GPT-NeoX and Llama, i with i + h / 2."""


def rope_angles(head_dim: int, context_length: int, base: float = 10_000.0) -> tuple[torch.Tensor, torch.Tensor]:
    exponents = torch.arange(0, head_dim, 2) / head_dim  # (h / 2,)
    frequencies = 1.0 / base**exponents  # (h / 2,)
    positions = torch.arange(context_length)  # (T,)
    angles = positions[:, None] * frequencies  # (T, h / 2)
    angles = angles.repeat_interleave(2, dim=-1)  # (T, h)
    return torch.cos(angles), torch.sin(angles)  # (T, h), (T, h)


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:
    tokens, half = x.shape[-2], x.shape[-1] // 2
    cos, sin = cos[offset : offset + tokens], sin[offset : offset + tokens]  # (T, h) each
    first, second = x[..., 0::2], x[..., 1::2]  # (B, H, T, h / 2) each
    other = torch.stack([-second, first], dim=-1).flatten(-2)  # (B, H, T, h)
    return (x * cos + other * sin).to(x.dtype)  # (B, H, T, h)
