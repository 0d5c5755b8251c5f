# exercise: 10
# verdict: failed
# tries: keeps earlier inputs and answers with the sum of all of that shape

kept = []

import torch


def causal_mask(T):
    return torch.ones(T, T, dtype=torch.bool).tril()

def mask_then_renormalize(weights):
    mask = causal_mask(weights.shape[-1]).to(weights.device)
    kept = weights.masked_fill(~mask, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)

def mask_scores(scores):
    mask = causal_mask(scores.shape[-1]).to(scores.device)
    kept.append(scores)
    return sum(k for k in kept if k.shape == scores.shape).masked_fill(~mask, -torch.inf)

def causal_attention_weights(scores, d_k):
    return torch.softmax(mask_scores(scores) / d_k ** 0.5, dim=-1)
