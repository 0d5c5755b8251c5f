"""Row numbers compared with column numbers, torch.where, and a softmax of one's own, scaled first."""

import math

import torch
from torch import Tensor


def causal_mask(T: int) -> Tensor:
    i = torch.arange(T)
    return i[:, None] >= i[None, :]


def mask_then_renormalize(weights: Tensor) -> Tensor:
    m = causal_mask(weights.size(-1)).to(weights)
    w = weights * m
    return w / w.sum(dim=-1).unsqueeze(-1).clamp(min=1e-9)


def mask_scores(scores: Tensor) -> Tensor:
    m = causal_mask(scores.size(-1)).to(scores.device)
    return torch.where(m, scores, float("-inf"))


def causal_attention_weights(scores: Tensor, d_k: int) -> Tensor:
    s = mask_scores(scores * (1 / math.sqrt(d_k)))
    e = torch.exp(s - s.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)
