"""Style: einops; every product is an einsum with names."""

import torch
import torch.nn as nn
from einops import rearrange, einsum


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.d_out_kq = d_out_kq
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))

    def forward(self, x_1, x_2):
        q = einsum(x_1, self.W_query, "t d, d k -> t k")
        k = einsum(x_2, self.W_key, "s d, d k -> s k")
        v = einsum(x_2, self.W_value, "s d, d v -> s v")
        scores = einsum(q, k, "t k, s k -> t s")
        attn = torch.softmax(scores / self.d_out_kq**0.5, dim=-1)
        return attn @ v
