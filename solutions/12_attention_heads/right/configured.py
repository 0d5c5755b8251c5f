"""Style: dataclass configs, a base class with helpers and properties that the two heads share, type hints all over."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class HeadConfig:
    embed_dim: int
    head_size: int
    bias: bool

    def linear(self) -> nn.Linear:
        return nn.Linear(self.embed_dim, self.head_size, bias=self.bias)


class Head(nn.Module):
    config: HeadConfig

    @property
    def scale(self) -> float:
        return float(self.config.head_size) ** -0.5

    def mix(self, scores: Tensor, values: Tensor) -> Tensor:
        return torch.einsum("bij,bjd->bid", torch.softmax(scores, dim=-1), values)


class AttentionHead(Head):
    def __init__(self, embed_dim: int, head_size: int) -> None:
        super().__init__()
        self.config = HeadConfig(embed_dim, head_size, bias=False)
        self.query: nn.Linear = self.config.linear()
        self.key: nn.Linear = self.config.linear()
        self.value: nn.Linear = self.config.linear()

    def forward(self, x: Tensor) -> Tensor:
        return self.mix(torch.einsum("bid,bjd->bij", self.query(x) * self.scale, self.key(x)), self.value(x))


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        if num_heads * (embed_dim // num_heads) != embed_dim:
            raise ValueError(f"{embed_dim} is no multiple of {num_heads}")
        size: int = embed_dim // num_heads
        self.heads = nn.ModuleList(AttentionHead(embed_dim, size) for _ in range(num_heads))
        self.output_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor) -> Tensor:
        return self.output_linear(self.side_by_side(x))

    def side_by_side(self, x: Tensor) -> Tensor:
        outputs = torch.stack([head(x) for head in self.heads], dim=-2)
        return outputs.reshape(*x.shape[:-1], -1)


class CausalHead(Head):
    def __init__(self, embed_dim: int, head_size: int) -> None:
        super().__init__()
        self.config = HeadConfig(embed_dim, head_size, bias=True)
        self.key, self.query, self.value = self.config.linear(), self.config.linear(), self.config.linear()
        self.out = nn.Linear(head_size, embed_dim)

    def masked(self, scores: Tensor) -> Tensor:
        hidden = torch.full_like(scores, -torch.inf).triu(diagonal=1)
        return scores + hidden

    def forward(self, x: Tensor) -> Tensor:
        scores = torch.baddbmm(self.key(x).new_zeros(1), self.key(x), self.query(x).mT)
        return self.out(self.mix(self.masked(scores), self.value(x)))
