"""What torch has ready: linear, addmm, and to()."""

import torch
import torch.nn.functional as F


def centred_rows(x):
    return torch.sub(x, x.mean(1, keepdim=True))


def all_products(a, b):
    return F.linear(a, b)


def positions(x):
    return torch.arange(len(x)).to(x)


def less_fixed_mean(x):
    fixed = x.clone().detach().mean()
    return torch.add(x, fixed, alpha=-1)


class Affine(torch.nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        for name, shape in {"weight": (d_in, d_out), "bias": (d_out,)}.items():
            setattr(self, name, torch.nn.Parameter(torch.rand(*shape)))

    def forward(self, x):
        return torch.addmm(self.bias, x, self.weight)
