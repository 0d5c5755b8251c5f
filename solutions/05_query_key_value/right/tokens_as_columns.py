"""The products as the third document writes them, W times the tokens as columns, transposed back; project goes through it."""

import torch


def init_weights(d_in: int, d_out: int):
    W_query = torch.rand(size=(d_in, d_out), requires_grad=False)
    W_key = torch.rand(size=(d_in, d_out), requires_grad=False)
    W_value = torch.rand(size=(d_in, d_out), requires_grad=False)
    print("drawn", W_query.shape)
    return W_query, W_key, W_value


def project(inputs, W_query, W_key, W_value):
    return project_columns(inputs, W_query.mT, W_key.mT, W_value.mT)


def project_columns(inputs, W_Q, W_K, W_V):
    queries = W_Q.matmul(inputs.T).T
    keys = W_K.matmul(inputs.T).T
    values = W_V.matmul(inputs.T).T
    return queries, keys, values
