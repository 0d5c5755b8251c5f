"""torch.bmm with one matrix per sequence; -1e9 under the softmax; a module-level cache; a helper class."""

import functools

import torch
from torch import nn


@functools.lru_cache(maxsize=None)
def averaging_weights(T):
    rows = torch.arange(T).unsqueeze(1)
    cols = torch.arange(T).unsqueeze(0)
    return torch.where(cols <= rows, 1.0 / (rows + 1), 0.0)


class Averager(nn.Module):
    def forward(self, x, weights):
        return torch.bmm(weights.to(x).expand(x.size(0), -1, -1), x)


def average_loop(x):
    out = x.clone()
    for t in range(1, x.size(1)):
        out[:, t] = (out[:, t - 1] * t + x[:, t]) / (t + 1)
    return out


def average_matmul(x):
    return Averager()(x, averaging_weights(x.size(1)))


def average_softmax(x):
    T = x.size(1)
    scores = torch.zeros(T, T)
    scores[torch.triu(torch.ones(T, T), 1) == 1] = -1e9
    return Averager()(x, nn.Softmax(dim=1)(scores))
