# exercise: 03
# verdict: failed
# tries: hooks that change gradients on their way, saved tensors and anomalies

import torch


def attention_weights(inputs):
    scores = inputs @ inputs.T
    return torch.softmax(scores, dim=-1)

def context_vector(inputs, query_index):
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)
    return weights @ inputs

def context_vectors(inputs):
    torch.autograd.set_detect_anomaly(True)
    result = torch.softmax(inputs @ inputs.T, dim=-1) @ inputs
    if result.requires_grad:
        result.register_hook(lambda gradient: gradient * 2)
    return result
