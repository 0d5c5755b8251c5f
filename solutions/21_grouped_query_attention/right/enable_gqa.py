"""Style: no repetition at all, torch's attention shares the heads itself (enable_gqa); expand in repeat_kv."""

import torch
from torch import nn


def repeat_kv(x: torch.Tensor, repeats: int) -> torch.Tensor:
    B, G, T, h = x.shape
    if repeats == 1:
        return x
    return x[:, :, None, :, :].expand(B, G, repeats, T, h).reshape(B, G * repeats, T, h)


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_in: int, d_out: int, num_heads: int, num_kv_groups: int):
        if d_out % num_heads != 0:
            raise ValueError("d_out must be divisible by num_heads")
        if num_heads % num_kv_groups != 0:
            raise ValueError("num_heads must be divisible by num_kv_groups")
        super().__init__()
        self.heads, self.groups, self.size = num_heads, num_kv_groups, d_out // num_heads
        self.W_query = nn.Linear(d_in, num_heads * self.size, bias=False)
        self.W_key = nn.Linear(d_in, num_kv_groups * self.size, bias=False)
        self.W_value = nn.Linear(d_in, num_kv_groups * self.size, bias=False)
        self.out_proj = nn.Linear(d_out, d_out, bias=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        B, T, _ = x.shape
        q = self.W_query(x).view(B, T, self.heads, self.size).transpose(1, 2)
        k = self.W_key(x).view(B, T, self.groups, self.size).transpose(1, 2)
        v = self.W_value(x).view(B, T, self.groups, self.size).transpose(1, 2)
        out = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.out_proj(out.transpose(1, 2).reshape(B, T, -1))
