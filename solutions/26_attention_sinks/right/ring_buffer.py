"""Style: einsum, an own softmax, rotation by complex numbers, and a cache that overwrites its oldest place."""

import torch
from torch import nn


def sink_softmax(scores: torch.Tensor, sinks: torch.Tensor) -> torch.Tensor:
    sink = sinks[None, :, None, None]
    largest = torch.maximum(scores.amax(dim=-1, keepdim=True), sink).detach()
    powers = (scores - largest).exp()
    return powers / (powers.sum(dim=-1, keepdim=True) + (sink - largest).exp())


class SinkAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, window=None):
        super().__init__()
        if d_out != d_out // num_heads * num_heads:
            raise ValueError("heads of different sizes")
        if window is not None and window < 1:
            raise ValueError("an empty window")
        self.heads, self.window = num_heads, window
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.out_proj = nn.Linear(d_out, d_out, bias=False)
        self.sinks = nn.Parameter(torch.zeros(num_heads))

    def forward(self, x):
        q, k, v = [
            layer(x).unflatten(-1, (self.heads, -1)) for layer in (self.W_query, self.W_key, self.W_value)
        ]  # (B, T, H, h)
        scores = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
        i, j = torch.meshgrid(*[torch.arange(x.shape[1], device=x.device)] * 2, indexing="ij")
        visible = j <= i
        if self.window is not None:
            visible &= j > i - self.window
        scores = scores.masked_fill(visible.logical_not(), float("-inf"))
        return self.out_proj(torch.einsum("bhij,bjhd->bihd", sink_softmax(scores, self.sinks), v).flatten(2))


def kept_positions(num_seen, num_sinks, window):
    return torch.tensor(
        sorted({*range(min(num_sinks, num_seen)), *range(max(0, num_seen - window), num_seen)}), dtype=torch.int64
    )


class StreamingCache:
    def __init__(self, num_sinks: int, window: int):
        if num_sinks < 0 or window < 1:
            raise ValueError(f"{num_sinks} sinks and a window of {window}")
        self.num_sinks, self.window, self.num_seen = num_sinks, window, 0
        self._buffers = None  # (2, B, H, num_sinks + window, h): keys and values

    def append(self, keys, values):
        both = torch.stack([keys, values])
        if self._buffers is None:
            self._buffers = both.new_zeros(*both.shape[:3], self.num_sinks + self.window, both.shape[-1])
        places, columns = [], []
        for column in range(keys.shape[2]):
            position = self.num_seen + column
            ring = self.num_sinks + (position - self.num_sinks) % self.window
            place = position if position < self.num_sinks else ring
            if place in places:
                columns.pop(places.index(place))
                places.remove(place)
            places.append(place)
            columns.append(column)
        buffers = self._buffers.clone()
        buffers[:, :, :, places] = both[:, :, :, columns]
        self._buffers, self.num_seen = buffers, self.num_seen + keys.shape[2]

    def _in_order(self):
        if self.num_seen <= self.num_sinks + self.window:
            return self._buffers[:, :, :, : self.num_seen]
        oldest = (self.num_seen - self.num_sinks) % self.window
        ring = torch.arange(self.num_sinks, self.num_sinks + self.window).roll(-oldest)
        return self._buffers[:, :, :, torch.cat([torch.arange(self.num_sinks), ring])]

    @property
    def keys(self):
        return self._in_order()[0]

    @property
    def values(self):
        return self._in_order()[1]

    def __len__(self):
        return min(self.num_seen, self.num_sinks + self.window)


def turned(x, places, theta):
    half = x.shape[-1] // 2
    angles = places.to(x.dtype)[:, None] * theta ** (-torch.arange(half, dtype=x.dtype) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], dim=-1)


def streaming_attention(query, cache, rope_theta=10_000.0):
    places = torch.arange(len(cache))
    keys, query = turned(cache.keys, places, rope_theta), turned(query, places[-1:], rope_theta)
    scores = torch.einsum("bhqd,bhkd->bhqk", query, keys) / query.shape[-1] ** 0.5
    return torch.einsum("bhqk,bhkd->bhqd", scores.softmax(-1), cache.values)
