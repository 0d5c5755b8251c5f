"""Explicit loops over tokens and columns with sums of products; weights filled by uniform_ under no_grad."""

import torch


def init_weights(d_in, d_out):
    matrices = []
    with torch.no_grad():
        for _ in ("query", "key", "value"):
            matrix = torch.nn.Parameter(torch.empty(d_in, d_out), requires_grad=False)
            matrix.uniform_()
            matrices.append(matrix)
    return tuple(matrices)


def times(inputs, columns):
    rows = []
    for token in inputs:
        rows.append(torch.stack([(token * column).sum() for column in columns]))
    return torch.stack(rows)


def project(inputs, W_query, W_key, W_value):
    return times(inputs, W_query.T), times(inputs, W_key.T), times(inputs, W_value.T)


def project_columns(inputs, W_Q, W_K, W_V):
    return times(inputs, W_Q), times(inputs, W_K), times(inputs, W_V)


if __name__ == "__main__":
    torch.manual_seed(123)
    print(init_weights(3, 2))
