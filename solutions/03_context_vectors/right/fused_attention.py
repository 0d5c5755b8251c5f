"""Torch's own fused attention with scale 1; the weights by asking it for the identity."""

import torch
import torch.nn.functional as F


def attention_weights(inputs):
    identity = torch.eye(len(inputs), dtype=inputs.dtype, device=inputs.device)
    return F.scaled_dot_product_attention(inputs, inputs, identity, scale=1.0)


def context_vector(inputs, query_index):
    query = inputs[query_index : query_index + 1]
    return F.scaled_dot_product_attention(query, inputs, inputs, scale=1.0)[0]


def context_vectors(inputs):
    return F.scaled_dot_product_attention(inputs, inputs, inputs, scale=1.0)
