"""Style: the wanted dimension is moved to the front, worked on there, and moved back; small helpers."""

import torch


def _along_first(values: torch.Tensor) -> torch.Tensor:
    total = torch.zeros_like(values[0])
    for row in values:
        total = total + row
    return values / total[None]


def normalize_by_sum(scores):
    return _along_first(scores)


def softmax_naive(x):
    return _along_first(torch.exp(x))


def softmax_stable(x, dim=-1):
    front = x.transpose(dim, 0)
    largest = front.max(dim=0).values
    shifted = front.sub(largest.unsqueeze(0))
    return _along_first(shifted.exp()).transpose(0, dim)
