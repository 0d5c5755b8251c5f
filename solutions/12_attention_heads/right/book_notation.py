"""Style: nanoGPT-like names, wei and tril, the causal mask as a method, errors raised before super().__init__ ends."""

import torch
import torch.nn as nn
from torch.nn import functional as F


class AttentionHead(nn.Module):
    """one head of self-attention"""

    def __init__(self, embed_dim, head_size):
        super().__init__()
        self.query = nn.Linear(embed_dim, head_size, bias=False)
        self.key = nn.Linear(embed_dim, head_size, bias=False)
        self.value = nn.Linear(embed_dim, head_size, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q = self.query(x)
        k = self.key(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = F.softmax(wei, dim=-1)
        v = self.value(x)
        out = wei @ v
        return out


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        head_size, rest = divmod(embed_dim, num_heads)
        if rest:
            raise ValueError("embed_dim % num_heads must be 0")
        self.heads = nn.ModuleList([AttentionHead(embed_dim, head_size) for _ in range(num_heads)])
        self.output_linear = nn.Linear(head_size * num_heads, embed_dim)

    def forward(self, x):
        out = torch.cat([h(x) for h in self.heads], dim=-1)
        out = self.output_linear(out)
        return out


class CausalHead(nn.Module):
    def __init__(self, embed_dim, head_size):
        super().__init__()
        self.key = nn.Linear(embed_dim, head_size)
        self.query = nn.Linear(embed_dim, head_size)
        self.value = nn.Linear(embed_dim, head_size)
        self.out = nn.Linear(head_size, embed_dim)

    @staticmethod
    def tril(T, device):
        return torch.tril(torch.ones(T, T, device=device))

    def forward(self, x):
        B, T, C = x.shape
        k = self.key(x)
        q = self.query(x)
        wei = k @ q.transpose(-2, -1)
        wei = wei.masked_fill(self.tril(T, x.device) == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        return self.out(wei @ self.value(x))
