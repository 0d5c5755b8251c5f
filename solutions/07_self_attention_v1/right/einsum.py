"""Einsum throughout, queries scaled before the scores, one draw for all three matrices."""

import torch
from torch import Tensor
from torch.nn import Module, Parameter


class SelfAttention_v1(Module):
    W_query: Parameter
    W_key: Parameter
    W_value: Parameter

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        q, k, v = torch.rand(3, d_in, d_out).unbind(0)
        self.W_value = Parameter(v.clone())
        self.W_key = Parameter(k.clone())
        self.W_query = Parameter(q.clone())
        self.scale = d_out**-0.5

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (torch.einsum("ti,io->to", x, w) for w in (self.W_query, self.W_key, self.W_value))
        a = torch.einsum("qo,ko->qk", q * self.scale, k).softmax(1)
        return torch.einsum("qk,ko->qo", a, v)
