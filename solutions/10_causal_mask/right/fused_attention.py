"""Fused attention with the identity as keys and values; indices of the upper triangle."""

import torch
import torch.nn.functional as F

_cache = {}


def causal_mask(T):
    if T not in _cache:
        _cache[T] = torch.tril(torch.ones((T, T), dtype=torch.int64)) > 0
    return _cache[T].clone()


def mask_then_renormalize(weights):
    kept = weights.clone()
    rows, cols = torch.triu_indices(kept.size(-2), kept.size(-1), offset=1, device=weights.device)
    kept[..., rows, cols] = 0
    return F.normalize(kept, p=1, dim=-1)


def mask_scores(scores):
    out = scores.clone()
    rows, cols = torch.triu_indices(out.size(-2), out.size(-1), offset=1, device=scores.device)
    out[..., rows, cols] = -float("inf")
    return out


def causal_attention_weights(scores, d_k):
    eye = torch.eye(scores.size(-1), dtype=scores.dtype, device=scores.device).expand(scores.shape)
    return F.scaled_dot_product_attention(scores, eye, eye, is_causal=True, scale=d_k**-0.5)
