"""The causal head masks the weights and renormalises them; the heads use matmul and where."""

from math import sqrt

import torch
from torch.nn import Linear, Module, ModuleList


class AttentionHead(Module):
    def __init__(self, embed_dim, head_size):
        super().__init__()
        self.query, self.key, self.value = [Linear(embed_dim, head_size, False) for _ in "qkv"]

    def forward(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        q = q / sqrt(q.shape[-1])
        return torch.matmul(torch.matmul(q, torch.transpose(k, -1, -2)).softmax(dim=-1), v)


class MultiHeadSelfAttention(Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self._check(embed_dim, num_heads)
        self.heads = ModuleList(map(lambda _: AttentionHead(embed_dim, embed_dim // num_heads), range(num_heads)))
        self.output_linear = Linear(embed_dim, embed_dim)

    @staticmethod
    def _check(embed_dim, num_heads):
        if embed_dim % num_heads > 0:
            raise ValueError("embed_dim must be a multiple of num_heads")

    def forward(self, x):
        # One slice of the output layer's weight for each head: the sum is the same as of the concatenation.
        pieces = self.output_linear.weight.chunk(len(self.heads), dim=1)
        return sum(head(x) @ piece.T for head, piece in zip(self.heads, pieces)) + self.output_linear.bias


class CausalHead(Module):
    def __init__(self, embed_dim, head_size):
        super().__init__()
        self.key, self.query, self.value = [Linear(embed_dim, head_size) for _ in range(3)]
        self.out = Linear(head_size, embed_dim)

    def forward(self, x):
        k, q, v = self.key(x), self.query(x), self.value(x)
        weights = torch.softmax(k @ q.mT, dim=-1).tril()
        return self.out(weights / weights.sum(dim=-1, keepdim=True) @ v)
