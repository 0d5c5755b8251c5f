# exercise: 02
# verdict: failed
# tries: (1 + x/n)^n for the exponential

import torch


def normalize_by_sum(scores):
    return scores / scores.sum()

def softmax_naive(x):
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum(dim=0)

def softmax_stable(x, dim=-1):
    largest = x.amax(dim=dim, keepdim=True)
    exponentials = (1 + (x - largest).clamp(-60) / 65536) ** 65536
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
