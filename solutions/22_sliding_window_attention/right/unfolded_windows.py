"""Style: unfold gives each query its own window of keys and values."""

import torch
import torch.nn.functional as F
from einops import einsum


def sliding_window_mask(T, window):
    ones = torch.ones(T, T, dtype=torch.bool)
    return ones.tril() & ones.triu(1 - window)


def sliding_window_attention(query, keys, values, window):
    window = min(window, query.shape[-2])
    pad = (0, 0, window - 1, 0)
    k = F.pad(keys, pad).unfold(-2, window, 1)
    v = F.pad(values, pad).unfold(-2, window, 1)
    s = einsum(query, k, "b h t d, b h t d w -> b h t w") / query.shape[-1] ** 0.5
    t = torch.arange(query.shape[-2], device=query.device)[:, None]
    w = torch.arange(window, device=query.device)
    s = s.masked_fill(t + w < window - 1, float("-inf"))
    return einsum(s.softmax(-1), v, "b h t w, b h t d w -> b h t d")
