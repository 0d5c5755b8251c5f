"""Style: each half worked out by itself from half a table; frequencies by exp and log."""

import math

import torch


def rope_angles(head_dim: int, context_length: int, base: float = 10_000.0):
    inv = torch.exp(torch.arange(0, head_dim, 2) * (-math.log(base) / head_dim))
    theta = torch.arange(context_length).float().unsqueeze(-1) @ inv.unsqueeze(0)
    return tuple(f(theta).tile(2) for f in (torch.cos, torch.sin))


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:
    a, b = x.chunk(2, -1)
    t = torch.arange(x.size(2), device=x.device) + offset
    c, s = cos[t].chunk(2, -1)[0], sin[t].chunk(2, -1)[0]
    out = torch.empty_like(x)
    out[..., : a.size(-1)] = a * c - b * s
    out[..., a.size(-1) :] = b * c + a * s
    return out
