"""Style: torch's own fused attention, one query lifted to a matrix and back, the weights as attention to unit values."""

import torch
from torch.nn import functional


def attention_score(query, key):
    return torch.dot(query, key)


def scaled_dot_product_attention(query, keys, values):
    if query.ndim == 1:
        return scaled_dot_product_attention(query[None], keys, values)[0]
    return functional.scaled_dot_product_attention(query, keys, values)


def scaled_attention_weights(query, keys):
    T_k = keys.shape[-2]
    unit = torch.eye(T_k, dtype=keys.dtype, device=keys.device)
    return scaled_dot_product_attention(query, keys, unit.expand(*keys.shape[:-2], T_k, T_k))


def score_variances(query, keys):
    scores = torch.matmul(query, keys.mT)
    scaled = scores.div(keys.shape[-1] ** 0.5)
    return torch.var(scores), torch.var(scaled)
