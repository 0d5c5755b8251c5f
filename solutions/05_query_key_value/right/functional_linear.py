"""Plain tensors instead of Parameters; F.linear for both conventions; lists are returned."""

import torch
import torch.nn.functional as F


def init_weights(d_in, d_out):
    return [torch.rand(d_in, d_out) for _ in range(3)]


def project(inputs, W_query, W_key, W_value):
    return [F.linear(inputs, weight.t()) for weight in (W_query, W_key, W_value)]


def project_columns(inputs, W_Q, W_K, W_V):
    return [F.linear(inputs, weight) for weight in (W_Q, W_K, W_V)]
