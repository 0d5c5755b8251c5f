"""einsum, an additive mask, a softmax of logarithms; weights row by row from Python lists."""

import torch
from torch import Tensor, einsum


def average_loop(x: Tensor) -> Tensor:
    return torch.stack([x[:, : t + 1].mean(1) for t in range(x.shape[1])], dim=1)


def averaging_weights(T: int) -> Tensor:
    return torch.tensor([[1 / (i + 1)] * (i + 1) + [0.0] * (T - i - 1) for i in range(T)])


def average_matmul(x: Tensor) -> Tensor:
    W = averaging_weights(x.size(-2)).to(x)
    return einsum("ts,bsd->btd", W, x)


def average_softmax(x: Tensor) -> Tensor:
    T = x.size(-2)
    mask = torch.full((T, T), float("-inf"), dtype=x.dtype, device=x.device).triu(1)
    W = (torch.zeros_like(mask) + mask).softmax(-1)
    return einsum("ts,bsd->btd", W, x)
