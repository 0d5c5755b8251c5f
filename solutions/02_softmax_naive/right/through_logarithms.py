"""exp(x − maximum − log of the sum) instead of a division."""

import torch


def normalize_by_sum(scores):
    return scores * (1 / scores.sum())


def softmax_naive(x):
    numerator = torch.exp(x)
    denominator = torch.exp(x).sum(0, keepdim=True).expand_as(x)
    return torch.true_divide(numerator, denominator)


def softmax_stable(x, dim=-1):
    largest = x.amax(dim, keepdim=True)
    log_total = largest + (x - largest).exp().sum(dim, keepdim=True).log()
    return (x - log_total).exp()
