"""Style: as short as it gets."""

import torch
from torch import nn


def repeat_kv(x, repeats):
    return x.repeat_interleave(repeats, 1)


class GroupedQueryAttention(nn.Module):
    def __init__(s, d_in, d_out, num_heads, num_kv_groups):
        super().__init__()
        if d_out % num_heads + num_heads % num_kv_groups:
            raise ValueError
        s.h, s.r = d_out // num_heads, num_heads // num_kv_groups
        s.W_query, s.W_key, s.W_value = (nn.Linear(d_in, d_out // r, bias=False) for r in (1, s.r, s.r))
        s.out_proj = nn.Linear(d_out, d_out)

    def forward(s, x):
        q, k, v = (
            repeat_kv(w(x).unflatten(-1, (-1, s.h)).transpose(1, 2), r)
            for w, r in ((s.W_query, 1), (s.W_key, s.r), (s.W_value, s.r))
        )
        a = (q @ k.mT / s.h**0.5).masked_fill(q.new_ones(x.shape[1], x.shape[1]).triu(1) > 0, -torch.inf).softmax(-1)
        return s.out_proj((a @ v).transpose(1, 2).flatten(2))
