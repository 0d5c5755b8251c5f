"""One projection for all heads, then a loop over slices of it: each head by itself, bmm inside."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def split_heads(x, num_heads):
    size = x.shape[-1] // num_heads
    heads = [x[:, :, i * size : (i + 1) * size] for i in range(num_heads)]
    return torch.stack(heads, dim=1)


def merge_heads(x):
    return torch.cat([x[:, head] for head in range(x.shape[1])], dim=2)


def project_heads(inputs, weights):
    return (inputs[None, :, None, :] * weights[:, None, :, :]).sum(dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.head_dim, rest = divmod(d_out, num_heads)
        if rest:
            raise ValueError(d_out, num_heads)
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.p = dropout
        self.mask = torch.ones(context_length, context_length).tril().bool()  # moved in forward

    def forward(self, x):
        allowed = self.mask[: x.shape[1], : x.shape[1]].to(x.device)
        outputs = []
        for q, k, v in zip(
            *(layer(x).split(self.head_dim, dim=-1) for layer in (self.W_query, self.W_key, self.W_value))
        ):
            scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.head_dim)
            scores = torch.where(allowed, scores, torch.full_like(scores, -torch.inf))
            weights = F.dropout(F.softmax(scores, dim=-1), p=self.p, training=self.training)
            outputs.append(torch.bmm(weights, v))
        return self.out_proj(torch.cat(outputs, dim=-1))
