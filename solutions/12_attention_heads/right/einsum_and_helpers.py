"""einsum everywhere, one helper for all three classes, an additive mask, other layers registered last."""

import math

import torch
from torch import Tensor, nn


def attend(rows: Tensor, columns: Tensor, values: Tensor, scale: float, mask: Tensor | None = None) -> Tensor:
    scores = torch.einsum("bik,bjk->bij", rows, columns) * scale
    if mask is not None:
        scores = scores + mask
    weights = nn.functional.softmax(scores, dim=2)
    return torch.einsum("bij,bjv->biv", weights, values)


class AttentionHead(nn.Module):
    def __init__(self, embed_dim: int, head_size: int) -> None:
        super().__init__()
        query, key, value = (nn.Linear(embed_dim, head_size, bias=False) for _ in range(3))
        self.value, self.key, self.query = value, key, query
        self.scale = 1 / math.sqrt(head_size)

    def forward(self, x: Tensor) -> Tensor:
        return attend(self.query(x), self.key(x), self.value(x), self.scale)


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int) -> None:
        if embed_dim % num_heads:
            raise ValueError(embed_dim, num_heads)
        super().__init__()
        heads = [AttentionHead(embed_dim, embed_dim // num_heads) for _ in range(num_heads)]
        self.output_linear = nn.Linear(embed_dim, embed_dim)
        self.heads = nn.ModuleList(heads)

    def forward(self, x: Tensor) -> Tensor:
        stacked = torch.stack([head(x) for head in self.heads], dim=2)  # (B, T, H, h)
        return self.output_linear(stacked.flatten(2))


class CausalHead(nn.Module):
    def __init__(self, embed_dim: int, head_size: int) -> None:
        super().__init__()
        layers = {name: nn.Linear(embed_dim, head_size) for name in ("key", "query", "value")}
        layers["out"] = nn.Linear(head_size, embed_dim)
        for name in sorted(layers):
            self.add_module(name, layers[name])

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.size(1)
        mask = torch.full((tokens, tokens), float("-inf"), dtype=x.dtype, device=x.device).triu(diagonal=1)
        return self.out(attend(self.key(x), self.query(x), self.value(x), 1.0, mask))
