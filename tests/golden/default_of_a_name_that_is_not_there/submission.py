import torch


def attention_weights(inputs, device=device):
    return torch.softmax(inputs @ inputs.T, dim=-1)
