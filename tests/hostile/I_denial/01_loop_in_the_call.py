# exercise: 01
# verdict: failed
# tries: a loop without end in one function

import torch


def dot_product(a, b):
    while True:
        pass

def attention_scores_for_query(inputs, query):
    return inputs @ query

def attention_scores(inputs):
    return inputs @ inputs.T
