"""Style: torch's own attention, with a key of zeros whose score is in the mask; a cache that is a Module; prints."""

import torch
import torch.nn.functional as F
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
    B, H, T, _ = scores.shape
    return (
        F.pad(scores, (0, 1))
        .index_add(
            3, torch.tensor([scores.shape[3]], device=scores.device), sinks.reshape(1, H, 1, 1).repeat(B, 1, T, 1)
        )
        .softmax(3)[..., :-1]
    )


class SinkAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, window=None):
        super().__init__()
        if d_out % num_heads:
            raise ValueError(f"{d_out} / {num_heads}")
        if window is not None and window < 1:
            raise ValueError(f"window {window}")
        self.H, self.window = num_heads, window
        self.W_query, self.W_key, self.W_value = (nn.Linear(d_in, d_out, bias=False) for _ in range(3))
        self.out_proj = nn.Linear(d_out, d_out, bias=False)
        self.register_parameter("sinks", nn.Parameter(torch.zeros(num_heads)))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (f(x).reshape(B, T, self.H, -1).transpose(1, 2) for f in (self.W_query, self.W_key, self.W_value))
        k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1))  # a key and a value of zeros at the end
        mask = torch.full((T, T), float("-inf"), dtype=x.dtype, device=x.device)
        reach = T if self.window is None else self.window
        mask = torch.triu(mask, 1) + torch.tril(mask, -reach)
        mask = torch.cat([mask.expand(self.H, T, T), self.sinks.view(-1, 1, 1).expand(self.H, T, 1)], dim=-1)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask.expand(B, -1, -1, -1))
        return self.out_proj(out.transpose(1, 2).reshape(B, T, -1))


def kept_positions(num_seen, num_sinks, window):
    keep = torch.zeros(num_seen, dtype=torch.bool)
    keep[:num_sinks] = True
    keep[max(0, num_seen - window) :] = True
    return keep.nonzero().flatten()


class StreamingCache(nn.Module):
    def __init__(self, num_sinks, window):
        super().__init__()
        if num_sinks < 0 or window < 1:
            raise ValueError
        self.num_sinks, self.window = num_sinks, window
        self.keys = self.values = torch.zeros(0)
        self.num_seen = 0

    def __len__(self):
        return self.keys.shape[2] if self.num_seen else 0

    def append(self, keys, values):
        self.num_seen += keys.shape[2]
        self.keys = self.joined(self.keys, keys)
        self.values = self.joined(self.values, values)
        print("kept", len(self), "of", self.num_seen)

    def joined(self, old, new):
        whole = torch.cat([old, new], 2) if old.numel() else new.clone()
        if whole.shape[2] <= self.num_sinks + self.window:
            return whole
        return torch.cat([whole[:, :, : self.num_sinks], whole[:, :, -self.window :]], 2)


def streaming_attention(query, cache, rope_theta=10_000.0):
    cos, sin = rope_angles(query.shape[-1], len(cache), rope_theta)
    keys = apply_rope(cache.keys, cos, sin)
    # The query as the last of as many copies as there are keys.
    query = apply_rope(query.expand_as(keys), cos, sin)[:, :, -1:]
    return F.scaled_dot_product_attention(query, keys, cache.values)
