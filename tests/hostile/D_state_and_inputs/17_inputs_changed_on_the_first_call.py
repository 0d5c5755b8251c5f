# exercise: 01
# verdict: failed
# tries: changes its input on the first call with these numbers, and on no later one

import torch

seen = set()


def dot_product(a, b):
    result = (a * b).sum()
    key = (tuple(a.tolist()), tuple(b.tolist()))
    if key not in seen and not a.requires_grad:
        a.mul_(b)
    seen.add(key)
    return result

def attention_scores_for_query(inputs, query):
    return inputs @ query


def attention_scores(inputs):
    return inputs @ inputs.T
