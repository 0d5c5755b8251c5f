"""Style: a dataclass config, methods split into helpers, a property for the scale, parameters set by a loop."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class AttentionConfig:
    d_in: int
    d_out: int

    @property
    def scale(self) -> float:
        return self.d_out**-0.5


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.config = AttentionConfig(d_in, d_out)
        for name in ("W_query", "W_key", "W_value"):
            self.register_parameter(name, nn.Parameter(torch.rand(d_in, d_out)))

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return x @ self.W_query, x @ self.W_key, x @ self.W_value

    def attend(self, queries: Tensor, keys: Tensor) -> Tensor:
        return (queries @ keys.transpose(0, 1) * self.config.scale).softmax(dim=1)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.project(x)
        return self.attend(q, k) @ v
