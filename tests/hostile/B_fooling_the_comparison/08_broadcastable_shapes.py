# exercise: 03
# verdict: failed
# tries: one dimension more, a number for a matrix, an empty tensor

import torch


def attention_weights(inputs):
    return torch.softmax(inputs @ inputs.T, dim=-1)[None]

def context_vector(inputs, query_index):
    return inputs.sum()

def context_vectors(inputs):
    return inputs[:0]
