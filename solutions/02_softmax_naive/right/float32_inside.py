"""Half types in float32 inside, −inf treated apart with where, a class that holds the steps."""

import torch


class Shares:
    """Divides by the sum along one dim."""

    def __init__(self, dim):
        self.dim = dim

    def __call__(self, parts):
        return parts / parts.sum(dim=self.dim, keepdim=True)


def wide(x):
    return x.float() if x.itemsize < 4 else x


def normalize_by_sum(scores):
    return Shares(0)(wide(scores)).to(scores.dtype)


def softmax_naive(x):
    return Shares(0)(wide(x).exp()).to(x.dtype)


def softmax_stable(x, dim=-1):
    scores = wide(x)
    masked = scores == float("-inf")
    largest = scores.masked_fill(masked, torch.finfo(scores.dtype).min).amax(dim=dim, keepdim=True)
    shifted = torch.where(masked, torch.zeros_like(scores), scores - largest)
    parts = torch.where(masked, torch.zeros_like(scores), torch.exp(shifted))
    return Shares(dim)(parts).to(x.dtype)
