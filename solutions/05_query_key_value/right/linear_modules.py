"""Style: a dataclass config, linear modules without parameters of their own, called by functional_call."""

from dataclasses import dataclass, field

import torch
from torch import nn
from torch.func import functional_call


@dataclass
class HeadConfig:
    d_in: int
    d_out: int
    names: tuple[str, ...] = field(default=("query", "key", "value"))


def init_weights(d_in: int, d_out: int):
    cfg = HeadConfig(d_in, d_out)
    drawn = {name: torch.rand((cfg.d_in, cfg.d_out)) for name in cfg.names}
    return drawn["query"], drawn["key"], drawn["value"]


def _linear(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False, device="meta")
    return functional_call(layer, {"weight": weight}, (x,))


def project(inputs, W_query, W_key, W_value):
    return tuple(_linear(inputs, W.T) for W in (W_query, W_key, W_value))


def project_columns(inputs, W_Q, W_K, W_V):
    return tuple(map(_linear, (inputs,) * 3, (W_Q, W_K, W_V)))
