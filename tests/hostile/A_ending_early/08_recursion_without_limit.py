# exercise: 01
# verdict: failed
# tries: endless recursion with the limit raised to a billion

import sys

import torch


def dot_product(a, b):
    sys.setrecursionlimit(10**9)
    return dot_product(a, b)


def attention_scores_for_query(inputs, query):
    return inputs.sum(dim=-1)


def attention_scores(inputs):
    return inputs @ inputs.T * 2
