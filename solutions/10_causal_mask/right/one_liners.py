"""Style: one expression a function, torch.where, normalize with p=1, logical_not of triu."""

import torch
from torch import Tensor
from torch.nn.functional import normalize


def causal_mask(T: int) -> Tensor:
    return ~torch.full((T, T), True).triu(1)


def mask_then_renormalize(weights: Tensor) -> Tensor:
    return (kept := weights.tril()) / kept.sum(-1).unsqueeze(-1)


def mask_scores(scores: Tensor) -> Tensor:
    return torch.where(causal_mask(scores.size(-1)).to(scores.device), scores, float("-inf"))


def causal_attention_weights(scores: Tensor, d_k: int) -> Tensor:
    return normalize((s := mask_scores(scores) * d_k**-0.5).sub(s.amax(-1, keepdim=True)).exp(), p=1.0, dim=-1)
