"""Style: a dataclass config, nanoGPT-like names, methods split into helpers, a property that cuts the mask."""

import math
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch import Tensor
from torch.nn import functional as F


@dataclass
class HeadConfig:
    n_embd: int
    head_size: int
    block_size: int
    dropout: float = 0.0
    bias: bool = False


class CausalAttention(nn.Module):
    def __init__(self, d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool = False):
        super().__init__()
        self.config = HeadConfig(d_in, d_out, context_length, dropout, qkv_bias)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.attn_dropout = nn.Dropout(self.config.dropout)
        self.register_buffer("tril", torch.tril(torch.ones(context_length, context_length)))

    @property
    def block_size(self) -> int:
        return self.config.block_size

    def _check(self, T: int) -> None:
        if T > self.block_size:
            raise ValueError(f"Cannot forward sequence of length {T}, block size is only {self.block_size}")

    def _attention(self, q: Tensor, k: Tensor) -> Tensor:
        T = q.size(1)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return self.attn_dropout(F.softmax(att, dim=-1))

    def forward(self, x: Tensor) -> Tensor:
        _, T, _ = x.size()
        self._check(T)
        return self._attention(self.W_query(x), self.W_key(x)) @ self.W_value(x)


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ):
        super().__init__()
        self.heads = nn.ModuleList()
        for _ in range(num_heads):
            self.heads.append(CausalAttention(d_in, d_out, context_length, dropout, qkv_bias))

    def forward(self, x: Tensor) -> Tensor:
        out: list[Tensor] = []
        for h in self.heads:
            out.append(h(x))
        return torch.concatenate(out, dim=2)
