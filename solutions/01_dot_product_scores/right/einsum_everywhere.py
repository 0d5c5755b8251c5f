"""Einsum for the scores; torch.mul and torch.sum for the dot product."""

import torch


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.sum(torch.mul(a, b), dim=-1)


def attention_scores_for_query(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    return torch.einsum("td,d->t", inputs, query)


def attention_scores(inputs: torch.Tensor) -> torch.Tensor:
    return torch.einsum("id,jd->ij", inputs, inputs)
