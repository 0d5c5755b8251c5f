# exercise: 01
# verdict: failed
# tries: infinity, whose difference to itself is NaN

import torch


def dot_product(a, b):
    return a.sum() * float('inf')


def attention_scores_for_query(inputs, query):
    return inputs.sum(dim=-1)


def attention_scores(inputs):
    return (inputs @ inputs.T) / 0.0
