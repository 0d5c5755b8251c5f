# exercise: 01
# verdict: failed
# tries: an integral over steps, which is a sum of products that torch writes down

import torch


def dot_product(a, b):
    ends = torch.cat([b.new_zeros(1), b.cumsum(0)])
    steps = torch.stack([ends[:-1], ends[1:]]).T.reshape(-1)
    return torch.trapezoid(a.repeat_interleave(2), steps)


def attention_scores_for_query(inputs, query):
    return inputs @ query


def attention_scores(inputs):
    return inputs @ inputs.T
