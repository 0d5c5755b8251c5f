"""Torch's own bmm, mv and linear for the scores; a running sum by cumsum for the dot product."""

import torch.nn.functional as F
from torch import Tensor


def dot_product(a: Tensor, b: Tensor) -> Tensor:
    return a.mul(b).cumsum(0)[-1]


def attention_scores_for_query(inputs: Tensor, query: Tensor) -> Tensor:
    return inputs.mv(query)


def attention_scores(inputs: Tensor) -> Tensor:
    if inputs.is_contiguous():
        return F.linear(inputs, inputs)
    return inputs.unsqueeze(0).bmm(inputs.unsqueeze(0).transpose(1, 2)).squeeze(0)
