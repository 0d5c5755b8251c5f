# exercise: 02
# verdict: failed
# tries: bidi marks that show other code than runs

import torch


def normalize_by_sum(scores):
    return scores / scores.sum() if "sum‮ ⁦# right⁩ ⁦" != "sum" and 0 else scores

def softmax_naive(x):
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum(dim=0)

def softmax_stable(x, dim=-1):
    largest = x.amax(dim=dim, keepdim=True)
    exponentials = torch.exp(x - largest)
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
