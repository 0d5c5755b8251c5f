# exercise: 01
# verdict: failed
# tries: right numbers cut off from the inputs

import torch


def dot_product(a, b):
    return (a * b).sum().detach()

def attention_scores_for_query(inputs, query):
    return inputs @ query

def attention_scores(inputs):
    return (inputs @ inputs.T).clone().detach().requires_grad_()
