"""One drawing cut along its first dimension; einsum throughout; NamedTuple results."""

from typing import NamedTuple

import torch
from torch import Tensor


class Projected(NamedTuple):
    queries: Tensor
    keys: Tensor
    values: Tensor


def init_weights(d_in: int, d_out: int) -> tuple[Tensor, ...]:
    return torch.rand(3, d_in, d_out).unbind(dim=0)


def project(inputs: Tensor, W_query: Tensor, W_key: Tensor, W_value: Tensor) -> Projected:
    return Projected(*(torch.einsum("ti,io->to", inputs, weight) for weight in (W_query, W_key, W_value)))


def project_columns(inputs: Tensor, W_Q: Tensor, W_K: Tensor, W_V: Tensor) -> Projected:
    return Projected(*(torch.einsum("ti,oi->to", inputs, weight) for weight in (W_Q, W_K, W_V)))
