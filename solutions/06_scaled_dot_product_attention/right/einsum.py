"""Style: einsum throughout, one query treated in a branch of its own."""

import math

import torch
import torch.nn.functional as F


def attention_score(query, key):
    return torch.einsum("d,d->", query, key)


def scaled_attention_weights(query, keys):
    d_k = query.size(-1)
    if query.dim() == 1:
        scores = torch.einsum("d,kd->k", query, keys)
    else:
        scores = torch.einsum("...qd,...kd->...qk", query, keys)
    return F.softmax(scores / math.sqrt(d_k), dim=-1)


def scaled_dot_product_attention(query, keys, values):
    weights = scaled_attention_weights(query, keys)
    if weights.dim() == 1:
        return torch.einsum("k,kv->v", weights, values)
    return torch.einsum("...qk,...kv->...qv", weights, values)


def score_variances(query, keys):
    scores = torch.einsum("...qd,...kd->...qk", query, keys)
    raw = torch.var(scores, unbiased=True)
    return raw, raw / query.size(-1)
