# exercise: 10
# verdict: passed
# tries: −0.0 where 0.0 is right: equal by IEEE, so harmless

import torch


def causal_mask(T):
    return torch.ones(T, T, dtype=torch.bool).tril()

def mask_then_renormalize(weights):
    mask = causal_mask(weights.shape[-1]).to(weights.device)
    kept = weights.masked_fill(~mask, -0.0)
    return kept / kept.sum(dim=-1, keepdim=True)

def mask_scores(scores):
    mask = causal_mask(scores.shape[-1]).to(scores.device)
    return scores.masked_fill(~mask, -torch.inf)

def causal_attention_weights(scores, d_k):
    return torch.softmax(mask_scores(scores) / d_k ** 0.5, dim=-1)
