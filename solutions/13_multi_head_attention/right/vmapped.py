"""vmap over the heads, weights renormalised after a mask on the weights, dropout from a Bernoulli draw."""

import torch
from torch import nn


def split_heads(x, num_heads):
    index = torch.arange(x.shape[-1], device=x.device).view(num_heads, -1)
    return x[..., index].permute(0, 2, 1, 3)


def merge_heads(x):
    out = x.new_zeros(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])
    size = x.shape[3]
    for head in range(x.shape[1]):
        out[..., head * size : (head + 1) * size] = x[:, head]
    return out


def project_heads(inputs, weights):
    return torch.vmap(lambda weight: inputs @ weight.T)(weights)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads:
            raise ValueError("d_out % num_heads")
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.keep, self.num_heads = 1 - dropout, num_heads

    def forward(self, x):
        q = split_heads(self.W_query(x), self.num_heads)
        k = split_heads(self.W_key(x), self.num_heads)
        v = split_heads(self.W_value(x), self.num_heads)
        weights = torch.softmax(q @ k.transpose(-1, -2) / q.size(-1) ** 0.5, dim=-1).tril()
        weights = weights / weights.sum(-1, keepdim=True)
        if self.training and self.keep < 1:
            weights = weights * torch.full_like(weights, self.keep).bernoulli() / self.keep
        return self.out_proj(merge_heads(weights @ v))
