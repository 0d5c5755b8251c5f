"""Loops over entries and rows; powers of e with ** and a list of results that is stacked."""

import math

import torch


def normalize_by_sum(scores):
    total = 0
    for score in scores:
        total = total + score
    return torch.stack([score / total for score in scores])


def softmax_naive(x):
    exponentials = [torch.exp(part) for part in x]
    total = sum(exponentials)
    return torch.stack([part / total for part in exponentials])


def softmax_stable(x, dim=-1):
    parts = x.unbind(dim)
    largest = parts[0]
    for part in parts[1:]:
        largest = torch.maximum(largest, part)
    powers = [math.e ** (part - largest) for part in parts]
    total = sum(powers)
    return torch.stack([power / total for power in powers], dim=dim)
