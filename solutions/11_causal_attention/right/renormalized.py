"""Style: the mask comes after the softmax and each row is divided by what is left; uint8 buffer, numbers by name."""

import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Linear(d_in, d_out, bias=qkv_bias) for _ in range(3))
        self.mask: torch.Tensor
        mask = [[int(j <= i) for j in range(context_length)] for i in range(context_length)]
        self.register_buffer("mask", torch.tensor(mask, dtype=torch.uint8))
        self.dropout = nn.Sequential(nn.Identity(), nn.Dropout(p=dropout))

    def forward(self, x):
        T = x.shape[1]
        most = self.mask.shape[0]
        if not T <= most:
            raise ValueError("only %d tokens fit, not %d" % (most, T))
        scores = torch.matmul(self.W_query(x), self.W_key(x).permute(0, 2, 1)) / self.W_key.out_features**0.5
        weights = nn.Softmax(dim=2)(scores) * self.mask[:T].narrow(1, 0, T)
        weights = weights / weights.sum(dim=2, keepdim=True)
        return torch.matmul(self.dropout(weights), self.W_value(x))


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        sizes = dict(d_in=d_in, d_out=d_out, context_length=context_length)
        self.heads = nn.ModuleList(
            CausalAttention(**sizes, dropout=dropout, qkv_bias=qkv_bias) for _ in range(num_heads)
        )

    def forward(self, x):
        return torch.cat(list(map(lambda head: head(x), self.heads)), dim=x.ndim - 1)
