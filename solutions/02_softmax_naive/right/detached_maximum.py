"""The maximum is detached, since it cancels; a helper that is called softmax, and local names like torch's."""

import torch
from torch import Tensor


def softmax(shifted: Tensor, dim: int) -> Tensor:
    exp = shifted.exp()
    return exp.div(exp.sum(dim, keepdim=True))


def normalize_by_sum(scores: Tensor) -> Tensor:
    softmax_free = torch.div(scores, scores.sum(0, keepdim=True))
    return softmax_free


def softmax_naive(x: Tensor) -> Tensor:
    return softmax(x, 0)


def softmax_stable(x: Tensor, dim: int = -1) -> Tensor:
    with torch.no_grad():
        logsumexp = torch.max(x, dim=dim, keepdim=True)[0]  # misleading, but only a name
    return softmax(x - logsumexp, dim)
