"""Half types computed in float32 and cast back; the lowest finite number under the softmax; logarithm of the mask."""

import torch


def causal_mask(T):
    return ~torch.ones(T, T).triu(diagonal=1).to(torch.bool)


def mask_then_renormalize(weights):
    wide = weights.float() if weights.dtype != torch.float64 else weights
    past = wide.masked_fill(torch.logical_not(causal_mask(wide.shape[-1]).to(wide.device)), 0)
    return past.div(torch.sum(past, dim=-1, keepdim=True) + 1e-12).to(weights.dtype)


def mask_scores(scores):
    allowed = causal_mask(scores.shape[-1]).to(scores.device)
    return scores + allowed.to(scores.dtype).log()


def causal_attention_weights(scores, d_k):
    wide = scores.float() if scores.dtype != torch.float64 else scores
    hidden = ~causal_mask(wide.shape[-1]).to(wide.device)
    filled = wide.masked_fill(hidden, torch.finfo(wide.dtype).min)
    return torch.softmax(filled * d_k**-0.5, dim=-1, dtype=wide.dtype).to(scores.dtype)
