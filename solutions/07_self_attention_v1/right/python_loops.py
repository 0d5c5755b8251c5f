"""Explicit loops over tokens, sums collected in lists; the softmax written out."""

import math

import torch
import torch.nn as nn


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        for name in ["W_query", "W_key", "W_value"]:
            setattr(self, name, nn.Parameter(torch.rand(d_in, d_out)))
        self.d_out = d_out

    def forward(self, x):
        q = [token @ self.W_query for token in x]
        k = [token @ self.W_key for token in x]
        v = [token @ self.W_value for token in x]
        rows = []
        for query in q:
            s = torch.stack([query.dot(key) / math.sqrt(self.d_out) for key in k])
            e = torch.exp(s - s.max())
            w = e / e.sum()
            total = torch.zeros_like(v[0])
            for weight, value in zip(w, v):
                total = total + weight * value
            rows.append(total)
        return torch.stack(rows)
