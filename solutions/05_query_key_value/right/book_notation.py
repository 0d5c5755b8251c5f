"""Style: one vector at a time, as in the book's first steps, then vstack; a named tuple comes back."""

from collections import namedtuple

import torch

QKV = namedtuple("QKV", "queries keys values")


def init_weights(d_in, d_out):
    W_query = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)
    W_key = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)
    W_value = torch.nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)
    return QKV(W_query, W_key, W_value)


def project(inputs, W_query, W_key, W_value):
    rows = [(x_i.matmul(W_query), x_i.matmul(W_key), x_i.matmul(W_value)) for x_i in inputs]
    return QKV(*(torch.vstack(column) for column in zip(*rows)))


def project_columns(inputs, W_Q, W_K, W_V):
    X = inputs.T
    Q, K, V = W_Q.matmul(X), W_K.matmul(X), W_V.matmul(X)
    return QKV(Q.T, K.T, V.T)
