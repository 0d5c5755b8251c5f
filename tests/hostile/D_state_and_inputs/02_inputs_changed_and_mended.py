# exercise: 03
# verdict: failed
# tries: changes the inputs, computes, and changes them back

import torch


def attention_weights(inputs):
    scores = inputs @ inputs.T
    return torch.softmax(scores, dim=-1)

def context_vector(inputs, query_index):
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)
    return weights @ inputs

def context_vectors(inputs):
    inputs.add_(1).sub_(1)
    return torch.softmax(inputs @ inputs.T, dim=-1) @ inputs
