"""Explicit loops over the asking tokens; the softmax written out with its maximum taken off."""

import math

import torch


def softmax(scores):
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum()


class CrossAttention(torch.nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        for name, size in (("W_query", d_out_kq), ("W_key", d_out_kq), ("W_value", d_out_v)):
            self.register_parameter(name, torch.nn.Parameter(torch.rand(d_in, size)))
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x_1, x_2):
        keys = [token @ self.W_key for token in x_2]
        values = [token @ self.W_value for token in x_2]
        rows = []
        for token in x_1:
            query = token @ self.W_query
            scores = torch.stack([(query * key).sum() / math.sqrt(len(key)) for key in keys])
            rows.append(sum(w * v for w, v in zip(softmax(scores), values)))
        return torch.stack(rows)
