"""Style: Q, K, V and D_k as in a textbook on deep learning; math.sqrt, torch.sqrt of a tensor, numpy-like methods."""

import math

import torch
import torch.nn.functional as F


def attention_score(query, key):
    score = 0.0
    for q, k in zip(query, key):
        score = score + q * k
    return score


def scaled_attention_weights(query, keys):
    Q, K = query, keys
    D_k = K.size(-1)
    A = torch.matmul(Q, K.mT if K.dim() > 1 else K)
    return F.softmax(A / math.sqrt(D_k), dim=A.dim() - 1)


def scaled_dot_product_attention(query, keys, values):
    Y = torch.matmul(scaled_attention_weights(query, keys), values)
    return Y


def score_variances(query, keys):
    wei = query @ keys.transpose(-2, -1)
    head_size = torch.tensor(float(keys.size(-1)))
    before = torch.var(wei)
    after = torch.var(wei * head_size.rsqrt().to(wei))
    return before, after
