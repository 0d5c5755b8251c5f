"""Style: pairs as complex numbers, multiplied by e^(i·angle) from torch.polar; half types go through float32."""

import torch


def rope_angles(head_dim, context_length, base=10_000.0):
    freqs = 1.0 / (base ** (torch.arange(0, head_dim, 2)[: (head_dim // 2)].float() / head_dim))
    freqs_cis = torch.polar(torch.ones(context_length, head_dim // 2), torch.outer(torch.arange(context_length), freqs))
    return freqs_cis.real.repeat(1, 2), freqs_cis.imag.repeat(1, 2)


def apply_rope(x, cos, sin, offset=0):
    T, h = x.shape[-2:]
    wide = x.dtype if x.dtype in (torch.float32, torch.float64) else torch.float32
    rows = slice(offset, offset + T)
    turn = torch.complex(cos[rows, : h // 2].to(wide), sin[rows, : h // 2].to(wide))
    z = torch.complex(*x.to(wide).chunk(2, dim=-1)) * turn
    return torch.cat((z.real, z.imag), dim=-1).to(x.dtype)
