import torch


def attention_weights(inputs):
    for _ in range(200):
        print("x" * 1_000_000)
    return torch.softmax(inputs @ inputs.T, dim=-1)


def context_vector(inputs, query_index):
    return attention_weights(inputs)[query_index] @ inputs


def context_vectors(inputs):
    return attention_weights(inputs) @ inputs
