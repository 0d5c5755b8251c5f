"""Torch's ready-made attention with its own dropout and causal flag; no mask is kept."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def split_heads(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(start_dim=2)


def project_heads(inputs, weights):
    heads, d_out, d = weights.shape
    return F.linear(inputs, weights.reshape(heads * d_out, d)).unflatten(-1, (heads, d_out)).transpose(0, 1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads:
            raise ValueError("d_out must be divisible by num_heads")
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout, self.num_heads = dropout, num_heads

    def forward(self, x):
        q, k, v = (split_heads(layer(x), self.num_heads) for layer in (self.W_query, self.W_key, self.W_value))
        rate = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=rate, is_causal=True)
        return self.out_proj(merge_heads(mixed))


if __name__ == "__main__":
    print(MultiHeadAttention(3, 2, 6, 0.0, 2)(torch.rand(2, 6, 3)))
