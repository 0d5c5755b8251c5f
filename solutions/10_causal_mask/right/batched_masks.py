"""One mask for each matrix of the batch, expand and masked_scatter; log_softmax; a helper class."""

import torch
from torch import nn


def causal_mask(T: int) -> torch.Tensor:
    mask = torch.zeros(T, T, dtype=torch.bool)
    for row in range(T):
        mask[row, : row + 1] = True
    return mask


class Masker(nn.Module):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, x):
        hidden = torch.logical_not(causal_mask(x.shape[-1])).to(x.device).expand_as(x)
        return x.masked_scatter(hidden, torch.full_like(x, self.value))


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    masked = Masker(0.0)(weights)
    return torch.einsum("...ij,...i->...ij", masked, 1 / masked.sum(-1))


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    return Masker(-torch.inf)(scores)


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    scaled = mask_scores(scores).div(d_k**0.5)
    return nn.LogSoftmax(dim=-1)(scaled).exp()
