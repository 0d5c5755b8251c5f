import torch


def attention_weights(inputs):
    return torch.softmax(inputs @ inputs.T, dim=-1).tolist()


def context_vector(inputs, query_index):
    return attention_weights(inputs)[query_index] @ inputs


def context_vectors(inputs):
    return attention_weights(inputs) @ inputs
