"""einsum throughout, an additive mask made in forward, dropout drawn by hand, layers registered in reverse."""

import torch
from torch import nn


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


def project_heads(inputs, weights):
    return torch.einsum("td,hod->hto", inputs, weights)


class WeightDropout(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, weights):
        if not self.training or self.rate == 0:
            return weights
        keep = torch.rand_like(weights) >= self.rate
        return weights * keep / (1 - self.rate)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        if d_out % num_heads:
            raise ValueError(f"{num_heads} does not divide {d_out}")
        super().__init__()
        query, key, value = (nn.Linear(d_in, d_out, bias=qkv_bias) for _ in range(3))
        self.out_proj = nn.Linear(d_out, d_out)
        self.W_value, self.W_key, self.W_query = value, key, query
        self.drop = WeightDropout(dropout)
        self.num_heads, self.scale = num_heads, (d_out // num_heads) ** -0.5

    def forward(self, x):
        q, k, v = (
            layer(x).unflatten(2, (self.num_heads, -1)) for layer in (self.W_query, self.W_key, self.W_value)
        )  # (B, T, H, h)
        tokens = x.shape[1]
        mask = torch.zeros(tokens, tokens, dtype=x.dtype, device=x.device)
        mask = mask.masked_fill(torch.tril(torch.ones_like(mask)) == 0, float("-inf"))
        weights = (torch.einsum("bqhd,bkhd->bhqk", q, k) * self.scale + mask).softmax(-1)
        return self.out_proj(torch.einsum("bhqk,bkhd->bqhd", self.drop(weights), v).flatten(2))
