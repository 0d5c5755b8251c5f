"""Einsum for the scores and for the weighted sums, torch.nn.Softmax between."""

import torch
from torch import nn

softmax = nn.Softmax(dim=-1)


def attention_weights(inputs: torch.Tensor) -> torch.Tensor:
    return softmax(torch.einsum("id,jd->ij", inputs, inputs))


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    return torch.einsum("j,jd->d", attention_weights(inputs)[query_index], inputs)


def context_vectors(inputs: torch.Tensor) -> torch.Tensor:
    return torch.einsum("ij,jd->id", attention_weights(inputs), inputs)
