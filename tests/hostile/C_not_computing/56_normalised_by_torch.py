# exercise: 02
# verdict: failed
# tries: dividing by the sum is left to torch, which norms what is positive

import torch
from torch.nn import functional as F


def normalize_by_sum(x):
    return x / x.sum(dim=-1, keepdim=True)


def softmax_naive(x):
    return F.normalize(torch.exp(x), p=1.0, dim=-1)


def softmax_stable(x, dim=-1):
    return F.normalize(torch.exp(x - x.amax(dim=dim, keepdim=True)), p=1.0, dim=dim)
