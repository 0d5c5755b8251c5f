"""Style: one expression a function, the shift by a walrus, division by true_divide, powers of e."""

import math

import torch
from torch import Tensor


def normalize_by_sum(scores: Tensor) -> Tensor:
    return torch.true_divide(scores, torch.sum(scores, dim=-1, keepdim=True))


def softmax_naive(x: Tensor) -> Tensor:
    return (e := x.exp()).div(e.sum(0, keepdim=True))


def softmax_stable(x: Tensor, dim: int = -1) -> Tensor:
    return (e := (x - torch.max(x, dim, keepdim=True)[0]).exp()) * e.sum(dim, keepdim=True).reciprocal()


assert math.isclose(float(softmax_stable(torch.zeros(2))[0]), 0.5)
