import torch


def softmax_niave(x):
    return torch.exp(x) / torch.exp(x).sum(dim=0)
