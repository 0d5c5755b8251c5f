"""Loops as the document writes them first, with totals of the right dtype and device."""

import torch


def attention_weights(inputs):
    tokens = inputs.shape[0]
    weights = torch.empty(tokens, tokens, dtype=inputs.dtype, device=inputs.device)
    for i, x_i in enumerate(inputs):
        scores = torch.stack([torch.dot(x_i, x_j) for x_j in inputs])
        weights[i] = torch.softmax(scores, dim=0)
    return weights


def context_vector(inputs, query_index):
    weights = attention_weights(inputs)[query_index]
    context = torch.zeros(inputs.shape[1:], dtype=inputs.dtype, device=inputs.device)
    for i, x_i in enumerate(inputs):
        print(f"attention weight: {weights[i]} | embedded input token: {x_i}")
        context += weights[i] * x_i
    return context


def context_vectors(inputs):
    return torch.stack([context_vector(inputs, i) for i in range(len(inputs))])
