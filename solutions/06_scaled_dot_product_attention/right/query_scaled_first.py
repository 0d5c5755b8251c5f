"""Style: the query is scaled before the product, softmax by hand, a named pair as result, prints and demo code."""

from typing import NamedTuple

import torch
from torch import Tensor

COUNT = 0


class Variances(NamedTuple):
    raw: Tensor
    scaled: Tensor


class Attention:
    """A helper that the exercise does not ask for."""

    def __init__(self, d_k: int):
        self.scale = d_k**-0.5

    def weights(self, query: Tensor, keys: Tensor) -> Tensor:
        scores = (keys @ (query * self.scale).unsqueeze(-1)).squeeze(-1) if query.ndim == 1 else None
        if scores is None:
            scores = torch.matmul(query * self.scale, torch.swapaxes(keys, -1, -2))
        exponentials = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        return exponentials / exponentials.sum(dim=-1, keepdim=True)


def attention_score(query: Tensor, key: Tensor) -> Tensor:
    return (query * key).sum()


def scaled_attention_weights(query: Tensor, keys: Tensor) -> Tensor:
    global COUNT
    COUNT += 1
    print("call", COUNT, query.shape)
    return Attention(query.shape[-1]).weights(query, keys)


def scaled_dot_product_attention(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    weights = scaled_attention_weights(query, keys)
    return (
        (weights.unsqueeze(-1) * values.unsqueeze(-3 if query.ndim > 1 else 0))
        .sum(-2)
        .reshape(*query.shape[:-1], values.shape[-1])
    )


def score_variances(query: Tensor, keys: Tensor) -> Variances:
    scores = (query @ keys.transpose(-1, -2)).flatten()
    n = scores.numel()
    mean = scores.sum() / n
    raw = (scores - mean).square().sum() / (n - 1)
    return Variances(raw, raw * keys.shape[-1] ** -1.0)


if __name__ == "__main__":
    print(attention_score(torch.ones(2), torch.ones(2)))
