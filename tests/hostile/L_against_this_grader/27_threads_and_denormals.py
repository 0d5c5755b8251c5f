# exercise: 03
# verdict: passed
# tries: threads, flush of denormals, low matmul precision: all harmless around right code

import torch
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_float32_matmul_precision('medium')

import torch


def attention_weights(inputs):
    scores = inputs @ inputs.T
    return torch.softmax(scores, dim=-1)

def context_vector(inputs, query_index):
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)
    return weights @ inputs

def context_vectors(inputs):
    return attention_weights(inputs) @ inputs
