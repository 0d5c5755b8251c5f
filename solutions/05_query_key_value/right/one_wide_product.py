"""One product with the three matrices side by side, split afterwards; half types computed in float32 and cast back."""

import torch
from torch import nn


def init_weights(d_in, d_out):
    holder = nn.ParameterDict()
    for name in ("W_query", "W_key", "W_value"):
        holder[name] = nn.Parameter(torch.rand(d_in, d_out)).requires_grad_(False)
    return holder["W_query"], holder["W_key"], holder["W_value"]


def wide(inputs, weights):
    dtype = inputs.dtype
    if dtype in (torch.float16, torch.bfloat16):
        inputs, weights = inputs.float(), [weight.float() for weight in weights]
    together = torch.mm(inputs, torch.cat(weights, dim=1)).to(dtype)
    return together.split([weight.shape[1] for weight in weights], dim=1)


def project(inputs, W_query, W_key, W_value):
    return wide(inputs, [W_query, W_key, W_value])


def project_columns(inputs, W_Q, W_K, W_V):
    return wide(inputs, [W_Q.T, W_K.T, W_V.T])
