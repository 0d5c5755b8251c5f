"""Style: a float mask of −inf that is added, in the state_dict, drawn and registered in different orders, bmm, baddbmm."""

import math
from collections import OrderedDict

import torch
from torch import Tensor, nn


class TooManyTokens(ValueError):
    pass


class CausalAttention(nn.Module):
    mask: Tensor

    def __init__(self, d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool = False) -> None:
        super().__init__()
        made = OrderedDict((name, nn.Linear(d_in, d_out, bias=qkv_bias)) for name in ("query", "key", "value"))
        for name, layer in reversed(made.items()):
            setattr(self, f"W_{name}", layer)
        self.scale = 1 / math.sqrt(d_out)
        self.drop = dropout
        self.register_buffer("mask", torch.full((1, context_length, context_length), -math.inf).triu_(1))

    def forward(self, x: Tensor) -> Tensor:
        B, T, _ = x.shape
        if T > self.mask.size(-1):
            raise TooManyTokens(T)
        mask = self.mask[:, :T, :T].expand(B, -1, -1)
        scores = torch.baddbmm(mask.to(x.dtype), self.W_query(x), self.W_key(x).transpose(1, 2), alpha=self.scale)
        weights = nn.functional.dropout(scores.softmax(-1), self.drop, self.training)
        return torch.bmm(weights, self.W_value(x))


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ) -> None:
        super().__init__()
        heads = [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        self.heads = nn.ModuleList(heads)
        self.register_buffer("calls", torch.zeros((), dtype=torch.long), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        stacked = torch.stack([head(x) for head in self.heads], dim=2)  # (B, T, H, d_out)
        return stacked.flatten(start_dim=2)
