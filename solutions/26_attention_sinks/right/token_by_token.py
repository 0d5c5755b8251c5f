"""Style: the sink as a first column, loops over heads and tokens, and a cache that is a list of single tokens."""

import math
from collections import deque

import torch
import torch.nn as nn


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
    heads = []
    for head in range(scores.shape[1]):
        row = scores[:, head]
        column = torch.zeros_like(row[..., :1]) + sinks[head]
        heads.append(torch.cat([column, row], dim=-1).softmax(dim=-1)[..., 1:])
    return torch.stack(heads, dim=1)


class SinkAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, window=None):
        if d_out % num_heads != 0 or (window is not None and window < 1):
            raise ValueError(f"not possible: {d_out=}, {num_heads=}, {window=}")
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Linear(d_in, d_out, bias=False))
        self.out_proj = nn.Linear(d_out, d_out, bias=False)
        self.sinks = nn.Parameter(torch.zeros(num_heads))
        self.window = window

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        h = q.shape[-1] // len(self.sinks)
        rows = []
        for t in range(x.shape[1]):
            start = 0 if self.window is None else max(0, t + 1 - self.window)
            heads = []
            for head in range(len(self.sinks)):
                part = slice(head * h, (head + 1) * h)
                scores = q[:, t : t + 1, part] @ k[:, start : t + 1, part].transpose(1, 2) / math.sqrt(h)
                weights = sink_softmax(scores[:, None], self.sinks[head : head + 1])[:, 0]
                heads.append(weights @ v[:, start : t + 1, part])
            rows.append(torch.cat(heads, dim=-1))
        return self.out_proj(torch.cat(rows, dim=1))


def kept_positions(num_seen, num_sinks, window):
    kept = [i for i in range(num_seen) if i < num_sinks or i + window >= num_seen]
    return torch.tensor(kept, dtype=torch.long)


class StreamingCache:
    def __init__(self, num_sinks, window):
        if num_sinks < 0 or window < 1:
            raise ValueError("num_sinks must be at least 0, window at least 1")
        self.num_sinks = num_sinks
        self.sinks, self.recent = [], deque(maxlen=window)
        self.num_seen = 0

    def append(self, keys, values):
        for t in range(keys.shape[2]):
            pair = keys[:, :, t].clone(), values[:, :, t].clone()
            if self.num_seen < self.num_sinks:
                self.sinks.append(pair)
            else:
                self.recent.append(pair)
            self.num_seen += 1

    def _joined(self, which):
        return torch.stack([pair[which] for pair in (*self.sinks, *self.recent)], dim=2)

    keys = property(lambda self: self._joined(0))
    values = property(lambda self: self._joined(1))

    def __len__(self):
        return len(self.sinks) + len(self.recent)


def streaming_attention(query, cache, rope_theta=10_000.0):
    last = len(cache) - 1
    cos, sin = rope_angles(query.shape[-1], last + 1, rope_theta)
    query = apply_rope(query, cos, sin, last)
    keys, values = cache.keys, cache.values
    scores = []
    for place in range(last + 1):
        key = apply_rope(keys[:, :, place : place + 1], cos, sin, place)
        scores.append((query * key).sum(dim=-1) / math.sqrt(query.shape[-1]))
    weights = torch.softmax(torch.cat(scores, dim=-1), dim=-1)
    return sum(weights[..., i, None, None] * values[:, :, i : i + 1] for i in range(last + 1))
