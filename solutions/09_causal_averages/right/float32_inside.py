"""Half types computed in float32 and cast back; products on the right side; in-place work on copies."""

import torch


def _wide(x):
    return x if x.dtype == torch.float64 else x.float()


def average_loop(x):
    y = _wide(x).clone()
    total = torch.zeros_like(y[:, 0])
    result = []
    for t in range(y.shape[1]):
        total = total + y[:, t, :]
        result += [total / float(t + 1)]
    return torch.stack(result, dim=1).to(x.dtype)


def averaging_weights(T):
    W = torch.zeros(T, T)
    for t in range(T):
        W[t, : t + 1] = 1 / (t + 1)
    return W


def average_matmul(x):
    y = _wide(x)
    W = averaging_weights(y.shape[1]).to(device=y.device, dtype=y.dtype)
    return (y.transpose(1, 2) @ W.t()).transpose(1, 2).to(x.dtype)


def average_softmax(x):
    y = _wide(x)
    T = y.shape[1]
    allowed = torch.tril(torch.ones((T, T), device=x.device)).bool()
    scores = torch.where(allowed, 0.0, torch.finfo(torch.float32).min)
    W = torch.softmax(scores, -1).to(y.dtype)
    return torch.matmul(W.unsqueeze(0), y).to(x.dtype)
