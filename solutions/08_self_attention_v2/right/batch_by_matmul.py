"""Weights and biases used by hand, keys.permute for a batch and .T for one sequence; a copy of exercise 07's class inside."""

import torch
import torch.nn as nn


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            self.add_module(name, nn.Linear(d_in, d_out, bias=bool(qkv_bias)))

    @staticmethod
    def project(x, layer):
        y = x @ layer.weight.T
        return y if layer.bias is None else y + layer.bias

    def forward(self, x):
        keys = self.project(x, self.W_key)
        turned = keys.T if x.ndim == 2 else keys.permute(0, 2, 1)
        scores = self.project(x, self.W_query) @ turned
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=scores.ndim - 1)
        return weights @ self.project(x, self.W_value)


def weights_for_v1(sa_v2):
    d_out, d_in = sa_v2.W_query.weight.shape
    sa_v1 = SelfAttention_v1(d_in, d_out)
    sa_v1.W_query = nn.Parameter(sa_v2.W_query.weight.data.T)
    sa_v1.W_key = nn.Parameter(sa_v2.W_key.weight.data.T)
    sa_v1.W_value = nn.Parameter(sa_v2.W_value.weight.data.T)
    return sa_v1.W_query, sa_v1.W_key, sa_v1.W_value
