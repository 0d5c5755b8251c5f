"""An additive mask of zeros and -inf in the dtype of the scores; renormalisation by tril."""

import torch
import torch.nn.functional as F


def causal_mask(T):
    return torch.triu(torch.ones(T, T), diagonal=1) == 0


def _bias(like):
    T = like.shape[-1]
    return torch.full((T, T), float("-inf"), dtype=like.dtype, device=like.device).triu(1)


def mask_then_renormalize(weights):
    simple = weights.tril()
    return simple / simple.sum(-1, keepdim=True)


def mask_scores(scores):
    return scores + _bias(scores)


def causal_attention_weights(scores, d_k):
    return F.softmax(scores / d_k**0.5 + _bias(scores), dim=-1)
