"""Style: a loop over the heads with slices of the numbers, registered in another order than drawn, softmax along dim 2."""

import torch
from torch import nn


class Head(nn.Module):
    """One head without parameters of its own."""

    def __init__(self, first, size, rate):
        super().__init__()
        self.columns = slice(first, first + size)
        self.size = size
        self.drop = nn.Dropout(p=rate)

    def forward(self, q, k, v):
        q, k, v = (tensor[:, :, self.columns] for tensor in (q, k, v))
        scores = torch.bmm(q * self.size**-0.5, k.transpose(1, 2))
        tokens = q.shape[1]
        past = torch.tril(torch.ones(tokens, tokens, device=q.device))
        return torch.bmm(self.drop(scores.masked_fill(past == 0, float("-inf")).softmax(2)), v)


def split_heads(x, num_heads):
    size = x.shape[2] // num_heads
    heads = []
    for h in range(num_heads):
        heads.append(x[:, :, h * size : (h + 1) * size])
    return torch.stack(heads, 1)


def merge_heads(x):
    B, H, T, h = x.shape
    result = torch.empty(B, T, H * h, dtype=x.dtype, device=x.device)
    for head in range(H):
        result[:, :, head * h : (head + 1) * h] = x[:, head]
    return result


def project_heads(inputs, weights):
    return torch.vmap(lambda weight: inputs @ weight.T)(weights)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        if d_out % num_heads != 0:
            raise ValueError(f"d_out ({d_out}) is no multiple of num_heads ({num_heads})")
        super().__init__()
        query = nn.Linear(d_in, d_out, bias=qkv_bias)
        key = nn.Linear(d_in, d_out, bias=qkv_bias)
        value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.W_value, self.W_key, self.W_query = value, key, query
        size = d_out // num_heads
        self.heads = nn.ModuleList([Head(first, size, dropout) for first in range(0, d_out, size)])

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        return self.out_proj(torch.cat([head(q, k, v) for head in self.heads], dim=2))
