# exercise: 01
# verdict: failed
# tries: a function whose name only looks right: a Cyrillic letter

import torch


def dot_prоduct(a, b):
    return (a * b).sum()

def attention_scores_for_query(inputs, query):
    return inputs @ query

def attention_scores(inputs):
    return inputs @ inputs.T
