"""Style: F.scaled_dot_product_attention with its own dropout and its own causal mask, one fused product for q, k and v."""

import torch
import torch.nn.functional as F
from torch import nn


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


def project_heads(inputs, weights):
    heads, d_out, _ = weights.shape
    return F.linear(inputs, weights.flatten(0, 1)).view(-1, heads, d_out).transpose(0, 1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if (d_out // num_heads) * num_heads != d_out:
            raise ValueError("num_heads")
        self.num_heads = num_heads
        self.p = dropout
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        layers = (self.W_query, self.W_key, self.W_value)
        weight = torch.cat([layer.weight for layer in layers])
        bias = None if self.W_query.bias is None else torch.cat([layer.bias for layer in layers])
        q, k, v = (split_heads(part, self.num_heads) for part in F.linear(x, weight, bias).chunk(3, dim=-1))
        context = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.p if self.training else 0.0)
        return self.out_proj(merge_heads(context))
