"""Style: a frozen dataclass with cached properties does the work, the functions ask it."""

from dataclasses import dataclass
from functools import cached_property

import torch


@dataclass(frozen=True, eq=False)
class Attention:
    tokens: torch.Tensor

    @cached_property
    def scores(self) -> torch.Tensor:
        return torch.einsum("id,jd->ij", self.tokens, self.tokens)

    @cached_property
    def weights(self) -> torch.Tensor:
        return torch.nn.Softmax(dim=-1)(self.scores)

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.tensordot(self.weights[index], self.tokens, dims=1)


def attention_weights(inputs: torch.Tensor) -> torch.Tensor:
    return Attention(inputs).weights


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    return Attention(inputs)[query_index]


def context_vectors(inputs: torch.Tensor) -> torch.Tensor:
    attention = Attention(inputs)
    return torch.stack([attention[index] for index in range(len(inputs))])
