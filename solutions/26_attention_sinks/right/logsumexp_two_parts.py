"""Style: a logsumexp of all scores, and a cache in two parts whose keys and values are properties that join them."""

import math

import torch
from torch import nn


def rope_angles(head_dim: int, context_length: int, base: float = 10_000.0):
    frequencies = base ** (-torch.arange(0, head_dim, 2) / head_dim)
    angles = torch.arange(context_length)[:, None] * frequencies
    angles = torch.cat([angles, angles], dim=-1)
    return torch.cos(angles), torch.sin(angles)


def apply_rope(x, cos, sin, offset: int = 0):
    cos, sin = cos[offset : offset + x.shape[-2]], sin[offset : offset + x.shape[-2]]
    first, second = x.chunk(2, dim=-1)
    return (x * cos + torch.cat([-second, first], dim=-1) * sin).to(x.dtype)


def sink_softmax(scores, sinks):
    column = sinks.view(1, -1, 1, 1).expand(scores.size(0), -1, scores.size(2), 1)
    total = torch.logsumexp(torch.cat((scores, column), dim=3), dim=3, keepdim=True)
    return torch.exp(scores - total)


class SinkAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, window=None):
        super().__init__()
        if d_out % num_heads:
            raise ValueError("d_out must be divisible by num_heads")
        if window is not None and window <= 0:
            raise ValueError("the window must be positive")
        self.num_heads, self.head_dim, self.window = num_heads, d_out // num_heads, window
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.out_proj = nn.Linear(d_out, d_out, bias=False)
        self.sinks = nn.Parameter(torch.zeros(num_heads))

    def split(self, x):
        B, T, _ = x.shape
        return x.view(B, T, self.num_heads, self.head_dim).permute(0, 2, 1, 3)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.split(self.W_query(x)), self.split(self.W_key(x)), self.split(self.W_value(x))
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.head_dim)
        visible = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        if self.window is not None:
            visible = visible.triu(1 - self.window)
        scores = torch.where(visible, scores, torch.full_like(scores, float("-inf")))
        out = torch.matmul(sink_softmax(scores, self.sinks), v)
        return self.out_proj(out.permute(0, 2, 1, 3).reshape(B, T, -1))


def kept_positions(num_seen, num_sinks, window):
    first = torch.arange(min(num_seen, num_sinks))
    last = torch.arange(max(len(first), num_seen - window), num_seen)
    return torch.cat([first, last])


class StreamingCache:
    def __init__(self, num_sinks, window):
        if num_sinks < 0:
            raise ValueError("num_sinks")
        if window < 1:
            raise ValueError("window")
        self.num_sinks, self.window, self.num_seen = num_sinks, window, 0
        self.first, self.recent = None, None

    @property
    def keys(self):
        return torch.cat([self.first[0], self.recent[0]], dim=2)

    @property
    def values(self):
        return torch.cat([self.first[1], self.recent[1]], dim=2)

    def __len__(self):
        return min(self.num_seen, self.num_sinks + self.window)

    def append(self, keys, values):
        T = keys.size(2)
        missing = max(0, self.num_sinks - self.num_seen)
        new = []
        for place, tensor in enumerate((keys, values)):
            first, rest = tensor[:, :, :missing], tensor[:, :, missing:]
            if self.first is not None:
                first = torch.cat([self.first[place], first], dim=2)
                rest = torch.cat([self.recent[place], rest], dim=2)
            new.append((first.clone(), rest[:, :, max(0, rest.size(2) - self.window) :].clone()))
        self.first, self.recent = zip(*new)
        self.num_seen += T


def streaming_attention(query, cache, rope_theta=10_000.0):
    n = len(cache)
    cos, sin = rope_angles(query.size(-1), n, rope_theta)
    k = apply_rope(cache.keys, cos, sin)
    q = apply_rope(query, cos[-1:], sin[-1:])
    scores = (q * k).sum(-1, keepdim=True) / math.sqrt(query.size(-1))
    return (scores.softmax(dim=2) * cache.values).sum(dim=2, keepdim=True)
