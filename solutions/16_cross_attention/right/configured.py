"""Style: a dataclass config, methods split into helpers, a property for the scale, own exp over sum."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class CrossConfig:
    d_in: int
    d_out_kq: int
    d_out_v: int

    def parameter(self, size: int) -> nn.Parameter:
        return nn.Parameter(torch.rand(self.d_in, size), requires_grad=True)


class CrossAttention(nn.Module):
    def __init__(self, d_in: int, d_out_kq: int, d_out_v: int):
        super().__init__()
        self.cfg = CrossConfig(d_in, d_out_kq, d_out_v)
        self.W_query = self.cfg.parameter(d_out_kq)
        self.W_key = self.cfg.parameter(d_out_kq)
        self.W_value = self.cfg.parameter(d_out_v)

    @property
    def temperature(self) -> float:
        return self.cfg.d_out_kq**0.5

    def _ask(self, x: Tensor) -> Tensor:
        return torch.mm(x, self.W_query)

    def _offer(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return torch.mm(x, self.W_key), torch.mm(x, self.W_value)

    def _softmax(self, scores: Tensor) -> Tensor:
        shifted = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
        return shifted / shifted.sum(dim=-1, keepdim=True)

    def forward(self, x_1: Tensor, x_2: Tensor) -> Tensor:
        keys, values = self._offer(x_2)
        scores = torch.mm(self._ask(x_1), keys.t()) / self.temperature
        return torch.mm(self._softmax(scores), values)
