"""Einsum with an ellipsis; weights_for_v1 clones into Parameters."""

import torch
import torch.nn as nn


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = torch.einsum("...qo,...ko->...qk", q, k)
        weights = torch.softmax(scores * k.shape[-1] ** -0.5, dim=-1)
        return torch.einsum("...qk,...ko->...qo", weights, v)


def weights_for_v1(sa_v2):
    return [nn.Parameter(getattr(sa_v2, n).weight.T.clone()) for n in ("W_query", "W_key", "W_value")]
