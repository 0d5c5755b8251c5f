"""Style: a 2×2 rotation matrix for each position and pair, multiplied by einsum."""

import torch


def rope_angles(head_dim, context_length, base=10_000.0):
    half = head_dim // 2
    theta = torch.tensor([base ** (-2 * i / head_dim) for i in range(half)] * 2)
    m = torch.arange(context_length, dtype=theta.dtype)
    return torch.cos(torch.outer(m, theta)), torch.sin(torch.outer(m, theta))


def apply_rope(x, cos, sin, offset=0):
    tokens, half = x.shape[-2], x.shape[-1] // 2
    c = cos.narrow(0, offset, tokens)[:, :half].to(x.dtype)
    s = sin.narrow(0, offset, tokens)[:, half:].to(x.dtype)
    R = torch.stack([torch.stack([c, -s]), torch.stack([s, c])])  # (2, 2, T, half)
    pairs = x.unflatten(-1, (2, half))  # (B, H, T, 2, half)
    return torch.einsum("oith,bntih->bntoh", R, pairs).flatten(-2)
