# exercise: 03
# verdict: passed
# tries: right numbers that do not lie row by row

import torch


def attention_weights(inputs):
    scores = inputs @ inputs.T
    return torch.softmax(scores, dim=-1)

def context_vector(inputs, query_index):
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)
    return weights @ inputs

def context_vectors(inputs):
    return (inputs.T @ attention_weights(inputs).T).T
