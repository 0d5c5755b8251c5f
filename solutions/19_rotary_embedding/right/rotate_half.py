"""Style: a rotate_half helper and unsqueezed tables, as in the well-known model code; tables in the dtype of x."""

import torch


def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def rope_angles(head_dim, context_length, base=10_000.0):
    assert head_dim % 2 == 0, "head_dim must be even"
    inv_freq = 1.0 / (base ** (torch.arange(0, head_dim, 2, dtype=torch.int64).float() / head_dim))
    t = torch.arange(context_length, dtype=inv_freq.dtype)
    freqs = torch.einsum("i,j->ij", t, inv_freq)
    emb = torch.cat((freqs, freqs), dim=-1)
    return emb.cos(), emb.sin()


def apply_rope(x, cos, sin, offset=0):
    cos = cos[offset : offset + x.shape[2]].unsqueeze(0).unsqueeze(0).to(x.dtype)
    sin = sin[offset : offset + x.shape[2]].unsqueeze(0).unsqueeze(0).to(x.dtype)
    return (x * cos) + (rotate_half(x) * sin)
