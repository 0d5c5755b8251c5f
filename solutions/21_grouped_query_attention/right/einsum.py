"""Style: einsum throughout; copies made by indexing with head // repeats."""

import torch
from torch import nn


def repeat_kv(x, repeats):
    heads = torch.arange(x.shape[1] * repeats, device=x.device) // repeats
    return x[:, heads]


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, num_kv_groups):
        super().__init__()
        for whole, part in ((d_out, num_heads), (num_heads, num_kv_groups)):
            if whole % part:
                raise ValueError(f"{part} does not divide {whole}")
        self.H, self.G = num_heads, num_kv_groups
        small = d_out * num_kv_groups // num_heads
        query, key, value = (nn.Linear(d_in, size, bias=False) for size in (d_out, small, small))
        self.out_proj = nn.Linear(d_out, d_out)
        self.W_value, self.W_key, self.W_query = value, key, query

    def forward(self, x):
        q = self.W_query(x).unflatten(-1, (self.G, self.H // self.G, -1))
        k = self.W_key(x).unflatten(-1, (self.G, -1))
        v = self.W_value(x).unflatten(-1, (self.G, -1))
        scores = torch.einsum("bqgrh,bkgh->bgrqk", q, k) / q.shape[-1] ** 0.5
        past = torch.tril(torch.ones(x.shape[1], x.shape[1], device=x.device)).bool()
        weights = scores.masked_fill(~past, -torch.inf).softmax(-1)
        return self.out_proj(torch.einsum("bgrqk,bkgh->bqgrh", weights, v).flatten(2))
