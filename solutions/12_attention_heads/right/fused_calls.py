"""Torch's ready-made attention, with scale and a causal flag where they fit."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class AttentionHead(nn.Module):
    def __init__(self, embed_dim, head_size):
        super().__init__()
        self.query = nn.Linear(embed_dim, head_size, bias=False)
        self.key = nn.Linear(embed_dim, head_size, bias=False)
        self.value = nn.Linear(embed_dim, head_size, bias=False)

    def forward(self, x):
        return F.scaled_dot_product_attention(self.query(x), self.key(x), self.value(x))


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        size, rest = divmod(embed_dim, num_heads)
        if rest:
            raise ValueError("num_heads must divide embed_dim")
        self.heads = nn.ModuleList([AttentionHead(embed_dim, size) for _ in range(num_heads)])
        self.output_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        outputs = [head(x) for head in self.heads]
        return self.output_linear(outputs[0] if len(outputs) == 1 else torch.cat(outputs, -1))


class CausalHead(nn.Module):
    def __init__(self, embed_dim, head_size):
        super().__init__()
        self.key = nn.Linear(embed_dim, head_size)
        self.query = nn.Linear(embed_dim, head_size)
        self.value = nn.Linear(embed_dim, head_size)
        self.out = nn.Linear(head_size, embed_dim)

    def forward(self, x):
        # The keys ask here: they take the place of the queries.
        mixed = F.scaled_dot_product_attention(self.key(x), self.query(x), self.value(x), is_causal=True, scale=1.0)
        return self.out(mixed)
