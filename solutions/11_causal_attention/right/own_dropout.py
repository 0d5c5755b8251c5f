"""Style: dropout by a mask of torch.rand, the causal mask made again in forward from positions, einsum, where, prints."""

import torch
from torch import nn


def drop(weights, p, training):
    """Dropout by hand."""
    if not training or p == 0:
        return weights
    kept = torch.rand(weights.shape, device=weights.device) >= p
    return weights * kept / (1 - p)


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            self.add_module(name, nn.Linear(d_in, d_out, bias=qkv_bias))
        self.rate, self.most = dropout, context_length

    def forward(self, x):
        if (tokens := x.shape[-2]) > self.most:
            raise ValueError
        print("tokens:", tokens)
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = torch.einsum("bqd,bkd->bqk", q, k) * q.shape[-1] ** -0.5
        place = torch.arange(tokens, device=x.device)
        past = place[:, None] >= place
        scores = torch.where(past, scores, torch.finfo(scores.dtype).min)
        weights = torch.exp(scores - scores.amax(-1, keepdim=True))
        weights = weights / weights.sum(-1, keepdim=True)
        return torch.einsum("bqk,bkd->bqd", drop(weights, self.rate, self.training), v)


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.d_out = d_out
        self.heads = nn.ModuleList()
        for i in range(num_heads):
            self.heads.insert(i, CausalAttention(d_in, d_out, context_length, dropout, qkv_bias=qkv_bias))

    def forward(self, x):
        result = x.new_empty(*x.shape[:2], len(self.heads) * self.d_out)
        for i, head in enumerate(self.heads):
            result[..., i * self.d_out : (i + 1) * self.d_out] = head(x)
        return result
