"""Products by broadcasting and a sum, and the mean as a Python number, which has no gradient."""

import torch
from torch.nn import Module, Parameter


def centred_rows(x):
    count = x.size(-1)
    return x - (x.sum(-1) / count).unsqueeze(-1).expand_as(x)


def all_products(a, b):
    return (a.unsqueeze(1) * b.unsqueeze(0)).sum(-1)


def positions(x):
    return torch.tensor(list(range(x.shape[0])), dtype=x.dtype, device=x.device)


def less_fixed_mean(x):
    return x - x.mean().item()


class Affine(Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.weight = Parameter(torch.rand(d_in, d_out))
        self.bias = Parameter(torch.rand(d_out))
        self.sizes = d_in, d_out

    def forward(self, x):
        return torch.matmul(x, self.weight).add(self.bias)
