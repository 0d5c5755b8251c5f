# exercise: 02
# verdict: failed
# tries: a default argument remembers the largest score of all calls

import torch


def normalize_by_sum(scores):
    return scores / scores.sum()

def softmax_naive(x):
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum(dim=0)

def softmax_stable(x, dim=-1, seen=[]):
    seen.append(float(x.detach().max()) if x.device.type != 'meta' else 0.0)
    exponentials = torch.exp(x - max(seen))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
