"""Style: weights masked after the softmax and each row divided by what is left, then dropout; a mask of several ranks."""

import torch
from torch import nn


def split_heads(x, num_heads):
    return torch.stack(torch.tensor_split(x, num_heads, dim=2)).swapaxes(0, 1)


def merge_heads(x):
    return x.permute(0, 2, 1, 3).reshape(len(x), x.size(2), -1)


def project_heads(inputs, weights):
    return torch.bmm(inputs.expand(weights.shape[0], *inputs.shape), weights.transpose(-2, -1))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        if d_out % self.num_heads != 0:
            raise ValueError(f"num_heads={num_heads} does not divide d_out={d_out}")
        names = ["W_query", "W_key", "W_value"]
        for name in names:
            setattr(self, name, nn.Linear(d_in, d_out, bias=qkv_bias))
        self.out_proj = nn.Linear(d_out, d_out)
        self.attn_drop = nn.Dropout(dropout)
        past = torch.ones(1, 1, context_length, context_length).tril()
        self.past = past  # a plain attribute, moved in forward
        self.scale = (d_out / num_heads) ** -0.5

    def forward(self, x):
        T = x.shape[-2]
        q = split_heads(self.W_query(x), self.num_heads)
        k = split_heads(self.W_key(x), self.num_heads)
        v = split_heads(self.W_value(x), self.num_heads)
        weights = torch.softmax(q @ k.mT * self.scale, dim=-1)
        weights = weights * self.past[:, :, :T, :T].to(weights)
        weights = weights / weights.sum(-1, keepdim=True)
        self.last_weights = weights.detach()
        return self.out_proj(merge_heads(self.attn_drop(weights) @ v))
