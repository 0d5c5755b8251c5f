"""Style: as short as it gets; roll and a sign, lists in place of tuples."""

import torch


def rope_angles(head_dim, context_length, base=10_000.0):
    a = torch.arange(context_length)[:, None] / base ** (torch.arange(0, head_dim, 2).repeat(2) / head_dim)
    return [a.cos(), a.sin()]


def apply_rope(x, cos, sin, offset=0):
    n, h = x.shape[2:]
    sign = torch.where(torch.arange(h, device=x.device) < h // 2, -1, 1)
    c, s = (t[offset:][:n].type_as(x) for t in (cos, sin))
    return x * c + x.roll(h // 2, -1) * sign * s
