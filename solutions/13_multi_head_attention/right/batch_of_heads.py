"""Heads folded into the batch, baddbmm with an additive buffer, matmul projections, prints on the way."""

import torch
import torch.nn as nn


def split_heads(x, num_heads):
    print("splitting", tuple(x.shape))
    B, T, d = x.shape
    return x.reshape(B, T, num_heads, d // num_heads).swapaxes(1, 2)


def merge_heads(x):
    return x.movedim(1, 2).reshape(x.size(0), x.size(2), -1)


def project_heads(inputs, weights):
    return torch.matmul(inputs.unsqueeze(0), weights.transpose(1, 2))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads != 0:
            raise ValueError("heads")
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Linear(d_in, d_out, bias=qkv_bias))
        self.out_proj = nn.Linear(d_out, d_out, bias=True)
        self.H, self.h = num_heads, d_out // num_heads
        self.attn_dropout = nn.Dropout(dropout)
        mask = torch.full((context_length, context_length), -torch.inf).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def _heads(self, layer, x):
        return split_heads(layer(x), self.H).reshape(-1, x.shape[1], self.h)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self._heads(self.W_query, x), self._heads(self.W_key, x), self._heads(self.W_value, x)
        scores = torch.baddbmm(self.mask[:T, :T], q, k.mT, alpha=self.h**-0.5)
        out = torch.bmm(self.attn_dropout(scores.softmax(-1)), v)
        return self.out_proj(merge_heads(out.view(-1, self.H, T, self.h)))
