"""Style: asserts, every step named, the minus sign and concatenation written out, prints and a demo."""

import torch


def rope_angles(head_dim, context_length, base=10_000.0):
    assert head_dim % 2 == 0, "Embedding dimension must be even"
    inv_freq = 1.0 / (base ** (torch.arange(0, head_dim, 2)[: (head_dim // 2)].float() / head_dim))
    positions = torch.arange(context_length)
    angles = positions.unsqueeze(1) * inv_freq.unsqueeze(0)
    angles = torch.cat([angles, angles], dim=1)
    cos = torch.cos(angles)
    sin = torch.sin(angles)
    print("tables:", cos.shape, sin.shape)
    return cos, sin


def apply_rope(x, cos, sin, offset=0):
    batch_size, num_heads, seq_len, head_dim = x.shape
    assert head_dim % 2 == 0
    x1 = x[..., : head_dim // 2]
    x2 = x[..., head_dim // 2 :]
    cos = cos[offset : offset + seq_len, :].unsqueeze(0).unsqueeze(0)
    sin = sin[offset : offset + seq_len, :].unsqueeze(0).unsqueeze(0)
    rotated = torch.cat((-x2, x1), dim=-1)
    x_rotated = (x * cos) + (rotated * sin)
    return x_rotated.to(dtype=x.dtype)


if __name__ == "__main__":
    cos, sin = rope_angles(4, 6)
    print(apply_rope(torch.rand(1, 2, 6, 4), cos, sin))
