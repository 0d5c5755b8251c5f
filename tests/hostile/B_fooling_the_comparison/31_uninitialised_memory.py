# exercise: 01
# verdict: failed
# tries: memory of earlier answers, in the hope that it holds the right one

import torch


def dot_product(a, b):
    return (a + b).sum()


def attention_scores_for_query(inputs, query):
    return inputs.sum(dim=-1)


def attention_scores(inputs):
    return torch.empty(len(inputs), len(inputs)) + inputs.sum() * 0
