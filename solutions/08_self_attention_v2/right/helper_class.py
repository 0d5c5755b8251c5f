"""A subclass of nn.Linear and a class for the attention itself; one product for all three; numpy in weights_for_v1."""

import torch
from torch import nn
from torch.nn import functional as F


class Projection(nn.Linear):
    def row_weight(self):
        return self.weight.transpose(0, 1)


class Attention(nn.Module):
    def forward(self, q, k, v):
        scores = q.matmul(k.mT) / k.size(-1) ** 0.5
        scores = scores - scores.amax(dim=-1, keepdim=True).detach()
        weights = scores.exp()
        return weights.matmul(v) / weights.sum(dim=-1, keepdim=True)


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.d_in, self.d_out = d_in, d_out
        self.W_query = Projection(d_in, d_out, bias=qkv_bias)
        self.W_key = Projection(d_in, d_out, bias=qkv_bias)
        self.W_value = Projection(d_in, d_out, bias=qkv_bias)
        self.attention = Attention()

    def forward(self, x):
        layers = (self.W_query, self.W_key, self.W_value)
        weight = torch.cat([layer.weight for layer in layers])
        bias = None if self.W_query.bias is None else torch.cat([layer.bias for layer in layers])
        q, k, v = F.linear(x, weight, bias).split(self.d_out, dim=-1)
        return self.attention(q, k, v)


def weights_for_v1(sa_v2):
    return tuple(
        torch.from_numpy(layer.row_weight().detach().numpy().copy()).to(layer.weight.device)
        for layer in (sa_v2.W_query, sa_v2.W_key, sa_v2.W_value)
    )
