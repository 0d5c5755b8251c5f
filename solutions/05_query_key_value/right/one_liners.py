"""Style: generators and comprehensions, matmul over a stack where sizes allow, requires_grad_ afterwards."""

import torch
from torch import Tensor


def init_weights(d_in: int, d_out: int) -> tuple[Tensor, ...]:
    return tuple(torch.rand(d_in, d_out).requires_grad_(False) for _ in "QKV")


def project(inputs: Tensor, W_query: Tensor, W_key: Tensor, W_value: Tensor) -> tuple[Tensor, ...]:
    return (inputs @ torch.stack((W_query, W_key, W_value))).unbind()


def project_columns(inputs: Tensor, W_Q: Tensor, W_K: Tensor, W_V: Tensor) -> list[Tensor]:
    return [torch.tensordot(inputs, W, dims=([1], [1])) for W in (W_Q, W_K, W_V)]
