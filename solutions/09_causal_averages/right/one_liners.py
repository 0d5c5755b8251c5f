"""Style: one expression a function: cumsum, a comparison of positions, a softmax of logarithms."""

import torch
from torch import Tensor


def average_loop(x: Tensor) -> Tensor:
    return torch.stack([x[:, : t + 1].mean(1) for t in range(x.shape[1])], dim=1)


def averaging_weights(T: int) -> Tensor:
    return (torch.arange(T)[:, None] >= torch.arange(T)).float() / torch.arange(1, T + 1)[:, None]


def average_matmul(x: Tensor) -> Tensor:
    return torch.einsum("ts,bsd->btd", averaging_weights(x.size(1)).to(dtype=x.dtype, device=x.device), x)


def average_softmax(x: Tensor) -> Tensor:
    return x.new_ones(x.shape[1], x.shape[1]).tril().log().softmax(-1) @ x
