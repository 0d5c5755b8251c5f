"""Style: a dataclass config, a property for the layers, methods split into helpers, always a batch inside."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    d_in: int
    d_out: int
    qkv_bias: bool = False

    def layer(self) -> nn.Linear:
        return nn.Linear(self.d_in, self.d_out, bias=self.qkv_bias)


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False):
        super().__init__()
        self.cfg = Config(d_in, d_out, qkv_bias)
        self.W_query, self.W_key, self.W_value = (self.cfg.layer() for _ in range(3))

    @property
    def layers(self) -> tuple[nn.Linear, nn.Linear, nn.Linear]:
        return self.W_query, self.W_key, self.W_value

    def _weights(self, q: Tensor, k: Tensor) -> Tensor:
        scores = torch.einsum("bid,bjd->bij", q, k).div(self.cfg.d_out**0.5)
        return scores.softmax(dim=2)

    def forward(self, x: Tensor) -> Tensor:
        batch = x if x.dim() == 3 else x.unsqueeze(0)
        q, k, v = (layer(batch) for layer in self.layers)
        context = self._weights(q, k).bmm(v)
        return context if x.dim() == 3 else context.squeeze(0)


def weights_for_v1(sa_v2: SelfAttention_v2) -> tuple[Tensor, ...]:
    W_query, W_key, W_value = (layer.weight.data.transpose(0, 1) for layer in sa_v2.layers)
    return W_query, W_key, W_value
