"""Style: torch's own attention with is_causal on repeated keys and values."""

import torch
import torch.nn.functional as F
from torch import nn


def repeat_kv(x, repeats):
    return torch.repeat_interleave(x, repeats, 1)


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, num_kv_groups):
        super().__init__()
        if d_out % num_heads or num_heads % num_kv_groups:
            raise ValueError("counts must divide")
        self.h = d_out // num_heads
        self.n = num_heads // num_kv_groups
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, self.h * num_kv_groups, bias=False)
        self.W_value = nn.Linear(d_in, self.h * num_kv_groups, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        q, k, v = (w(x).unflatten(2, (-1, self.h)).transpose(1, 2) for w in (self.W_query, self.W_key, self.W_value))
        z = F.scaled_dot_product_attention(q, repeat_kv(k, self.n), repeat_kv(v, self.n), is_causal=True)
        return self.out_proj(z.transpose(1, 2).flatten(2))
