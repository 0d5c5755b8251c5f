# exercise: 03
# verdict: failed
# tries: right numbers as float64, float16 and complex

import torch


def attention_weights(inputs):
    return torch.softmax(inputs.double() @ inputs.double().T, dim=-1)

def context_vector(inputs, query_index):
    return (torch.softmax(inputs @ inputs[query_index], dim=-1) @ inputs).half()

def context_vectors(inputs):
    return (torch.softmax(inputs @ inputs.T, dim=-1) @ inputs).to(torch.complex64)
