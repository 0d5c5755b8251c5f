"""Style: one expression a function, inner products by broadcasting, the variance by var_mean, a partial softmax."""

from functools import partial

import torch
from torch import Tensor

rows = partial(torch.softmax, dim=-1)


def attention_score(query: Tensor, key: Tensor) -> Tensor:
    return query.mul(key).sum()


def _scores(query: Tensor, keys: Tensor) -> Tensor:
    return (query.unsqueeze(-2) * (keys if query.ndim == 1 else keys.unsqueeze(-3))).sum(-1)


def scaled_attention_weights(query: Tensor, keys: Tensor) -> Tensor:
    return rows(_scores(query, keys) * query.shape[-1] ** -0.5)


def scaled_dot_product_attention(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    return (
        (scaled_attention_weights(query, keys).unsqueeze(-1) * values.unsqueeze(-3))
        .sum(-2)
        .reshape(*query.shape[:-1], values.shape[-1])
    )


def score_variances(query: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    return (v := torch.var_mean(_scores(query, keys))[0]), v / query.shape[-1]
