# exercise: 03
# verdict: failed
# tries: every weight wrong by one part in ten thousand

import torch


def attention_weights(inputs):
    return torch.softmax(inputs @ inputs.T * 1.0005, dim=-1)

def context_vector(inputs, query_index):
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)
    return weights @ inputs

def context_vectors(inputs):
    return attention_weights(inputs) @ inputs
