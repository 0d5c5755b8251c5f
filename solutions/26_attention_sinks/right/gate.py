"""Style: the usual softmax times a gate, the sigmoid of how far the keys are above the sink; slices and gather."""

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
    nothing = (scores == -torch.inf).all(dim=-1, keepdim=True)
    safe = scores.masked_fill(nothing, 0.0)
    gate = torch.sigmoid(safe.logsumexp(dim=-1, keepdim=True) - sinks[:, None, None])
    return (safe.softmax(dim=-1) * gate).masked_fill(nothing, 0.0)


class SinkAttention(nn.Module):
    def __init__(self, d_in: int, d_out: int, num_heads: int, window: int | None = None):
        super().__init__()
        if window is not None:
            if window < 1:
                raise ValueError("window < 1")
        if d_out % num_heads:
            raise ValueError("num_heads")
        self.num_heads = num_heads
        self.window = window or float("inf")
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.out_proj = nn.Linear(d_out, d_out, bias=False)
        self.sinks = nn.Parameter(self.out_proj.weight.new_zeros(num_heads))

    def forward(self, x):
        B, T, _ = x.size()
        h = self.W_query.out_features // self.num_heads
        q = self.W_query(x).view(B, T, self.num_heads, h).transpose(1, 2) * h**-0.5
        k = self.W_key(x).view(B, T, self.num_heads, h).transpose(1, 2)
        v = self.W_value(x).view(B, T, self.num_heads, h).transpose(1, 2)
        place = torch.arange(T, device=x.device)
        behind = place.unsqueeze(1) - place.unsqueeze(0)
        hidden = torch.logical_or(behind < 0, behind >= self.window)
        weights = sink_softmax((q @ k.transpose(-1, -2)).masked_fill(hidden, float("-inf")), self.sinks)
        return self.out_proj((weights @ v).transpose(1, 2).contiguous().view(B, T, -1))


def kept_positions(num_seen, num_sinks, window):
    if num_seen <= num_sinks + window:
        return torch.arange(num_seen)
    return torch.hstack([torch.arange(num_sinks), torch.arange(num_seen - window, num_seen)])


class StreamingCache:
    def __init__(self, num_sinks, window):
        assert_valid(num_sinks, window)
        self.num_sinks, self.window = num_sinks, window
        self.num_seen, self.positions = 0, torch.arange(0)
        self.keys = self.values = None

    def __len__(self):
        return len(self.positions)

    def append(self, keys, values):
        positions = torch.cat([self.positions, torch.arange(self.num_seen, self.num_seen + keys.shape[2])])
        self.num_seen += keys.shape[2]
        wanted = torch.isin(positions, kept_positions(self.num_seen, self.num_sinks, self.window))
        if self.keys is None:
            self.keys, self.values = keys[:, :, :0], values[:, :, :0]
        self.positions = positions[wanted]
        self.keys = torch.cat([self.keys, keys], dim=2)[:, :, wanted]
        self.values = torch.cat([self.values, values], dim=2)[:, :, wanted]


def assert_valid(num_sinks, window):
    if num_sinks < 0:
        raise ValueError(f"num_sinks is {num_sinks}")
    if window < 1:
        raise ValueError(f"window is {window}")


def streaming_attention(query, cache, rope_theta=10_000.0):
    cos, sin = rope_angles(query.size(3), len(cache), base=rope_theta)
    rotated_keys = apply_rope(cache.keys, cos, sin)
    rotated_query = apply_rope(query, cos, sin, offset=len(cache) - 1)
    weights = (rotated_query @ rotated_keys.transpose(2, 3) * query.size(3) ** -0.5).softmax(dim=3)
    return weights @ cache.values
