# exercise: 03
# verdict: passed
# tries: changes default dtype, threads, random state and printing around right code

import random
import torch
torch.set_default_dtype(torch.float64)
torch.set_printoptions(precision=1)
random.seed(0)

import torch


def attention_weights(inputs):
    scores = inputs @ inputs.T
    return torch.softmax(scores, dim=-1)

def context_vector(inputs, query_index):
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)
    return weights @ inputs

def context_vectors(inputs):
    torch.set_grad_enabled(True)
    torch.manual_seed(0)
    return attention_weights(inputs) @ inputs
