# exercise: 02
# verdict: failed
# tries: names of a hundred thousand characters where a note or a message tells names
# appends: '    return torch._' + 'x' * 100_000 + ', torch.' + '_y' * 50_000 + '\n'
# note: torch._xxx

import torch


def normalize_by_sum(scores):
    return scores / scores.sum()


def softmax_naive(x):
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum(dim=0)


def softmax_stable(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


def unused():
    pass
