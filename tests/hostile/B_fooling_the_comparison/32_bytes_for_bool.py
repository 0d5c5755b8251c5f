# exercise: 10
# verdict: failed
# tries: a bool mask whose bytes are 2 and 3

import torch


def causal_mask(T):
    return torch.full((T, T), 2, dtype=torch.uint8).view(torch.bool)

def mask_then_renormalize(weights):
    mask = causal_mask(weights.shape[-1]).to(weights.device)
    kept = weights.masked_fill(~mask, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)

def mask_scores(scores):
    mask = causal_mask(scores.shape[-1]).to(scores.device)
    return scores.masked_fill(~mask, -torch.inf)

def causal_attention_weights(scores, d_k):
    return torch.softmax(mask_scores(scores) / d_k ** 0.5, dim=-1)
