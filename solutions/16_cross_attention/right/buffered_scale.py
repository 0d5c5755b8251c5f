"""Style: the scale is a buffer, the two projections of x_2 are one product that is split, scores are kept for plots."""

import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_in, d_out_kq, d_out_v):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))
        self.register_buffer("scale", torch.tensor(d_out_kq).double().rsqrt(), persistent=False)
        self.last_weights = None

    def forward(self, x_1, x_2):
        together = x_2 @ torch.cat((self.W_key, self.W_value), dim=1)
        keys, values = together.split((self.W_key.shape[1], self.W_value.shape[1]), dim=1)
        scores = (x_1 @ self.W_query) @ keys.t() * self.scale.to(x_1.dtype)
        weights = torch.nn.functional.softmax(scores, dim=-1)
        self.last_weights = weights.detach()
        return weights.mm(values)
