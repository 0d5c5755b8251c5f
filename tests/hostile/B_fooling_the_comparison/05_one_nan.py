# exercise: 03
# verdict: failed
# tries: one NaN among right numbers

import torch


def attention_weights(inputs):
    scores = inputs @ inputs.T
    return torch.softmax(scores, dim=-1)

def context_vector(inputs, query_index):
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)
    return weights @ inputs

def context_vectors(inputs):
    result = attention_weights(inputs) @ inputs
    return torch.cat([result.flatten()[:-1], result.new_tensor([float('nan')])]).reshape(result.shape)
