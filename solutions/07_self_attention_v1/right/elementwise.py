"""Products by broadcasting and sum, in float64 where it helps and cast back."""

import torch
from torch import nn


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        wide = x.to(torch.float64)
        q = (wide[:, :, None] * self.W_query.to(torch.float64)).sum(1)
        k = (wide[:, :, None] * self.W_key.to(torch.float64)).sum(1)
        v = (wide[:, :, None] * self.W_value.to(torch.float64)).sum(1)
        d_k = torch.tensor(k.shape[1], dtype=torch.float64, device=x.device)
        scores = (q[:, None, :] * k[None, :, :]).sum(-1) / d_k.sqrt()
        weights = torch.softmax(scores, 1)
        return (weights[:, :, None] * v[None]).sum(1).to(x.dtype)
