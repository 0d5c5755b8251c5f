"""Style: einops; angles in float64, the halves taken apart by a pattern."""

import torch
from einops import rearrange, repeat


def rope_angles(head_dim, context_length, base=10_000.0):
    half = head_dim // 2
    exponent = torch.arange(half, dtype=torch.float64) / half
    angle = torch.arange(context_length, dtype=torch.float64)[:, None] * base**-exponent
    angle = repeat(angle, "t d -> t (two d)", two=2)
    return angle.cos().float(), angle.sin().float()


def apply_rope(x, cos, sin, offset=0):
    first, second = rearrange(x, "b h t (two d) -> two b h t d", two=2)
    t, d = first.shape[-2:]
    c, s = cos[offset : offset + t, :d], sin[offset : offset + t, :d]
    both = [first * c - second * s, second * c + first * s]
    return rearrange(both, "two b h t d -> b h t (two d)").to(x.dtype)
