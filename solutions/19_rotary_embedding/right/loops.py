"""Style: plain loops over positions and pairs, math.cos and math.sin."""

import math

import torch


def rope_angles(head_dim, context_length, base=10_000.0):
    cos = torch.zeros(context_length, head_dim)
    sin = torch.zeros(context_length, head_dim)
    for position in range(context_length):
        for pair in range(head_dim // 2):
            angle = position / math.pow(base, 2 * pair / head_dim)
            cos[position, pair] = cos[position, pair + head_dim // 2] = math.cos(angle)
            sin[position, pair] = sin[position, pair + head_dim // 2] = math.sin(angle)
    return cos, sin


def apply_rope(x, cos, sin, offset=0):
    half = x.shape[-1] // 2
    rows = []
    for token in range(x.shape[2]):
        columns = []
        for i in range(2 * half):
            partner = -x[:, :, token, i + half] if i < half else x[:, :, token, i - half]
            here = x[:, :, token, i] * cos[token + offset, i] + partner * sin[token + offset, i]
            columns.append(here)
        rows.append(torch.stack(columns, dim=-1))
    return torch.stack(rows, dim=2).to(x.dtype)
