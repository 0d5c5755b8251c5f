"""Style: k_up is multiplied into q_proj's weight and v_up into out_proj's, as one would before serving."""

import math

import torch
from torch import nn


def cache_numbers(kind: str, num_heads: int, num_kv_heads: int, head_dim: int, d_latent: int, d_rope: int) -> int:
    if kind not in ("mha", "gqa", "mqa", "mla"):
        raise ValueError(f"{kind!r}")
    heads = num_heads if kind == "mha" else num_kv_heads if kind == "gqa" else 1
    return d_latent + d_rope if kind == "mla" else heads * head_dim + heads * head_dim


class LatentAttention(nn.Module):
    def __init__(self, d_in, num_heads, head_dim, d_latent, d_rope, rope_theta=10_000.0):
        super().__init__()
        self.n, self.d, self.m, self.r = num_heads, head_dim, d_latent, d_rope
        self.base = rope_theta
        self.q_proj = nn.Linear(d_in, num_heads * (head_dim + d_rope), bias=False)
        self.kv_down = nn.Linear(d_in, d_latent, bias=False)
        self.k_rope = nn.Linear(d_in, d_rope, bias=False)
        self.k_up = nn.Linear(d_latent, num_heads * head_dim, bias=False)
        self.v_up = nn.Linear(d_latent, num_heads * head_dim, bias=False)
        self.out_proj = nn.Linear(num_heads * head_dim, d_in, bias=False)

    def _rotation(self, first, last, like):
        i = torch.arange(self.r // 2, device=like.device)
        t = torch.arange(first, last, device=like.device)
        angle = t.unsqueeze(1) / self.base ** (2 * i / self.r)
        return angle.cos().to(like.dtype), angle.sin().to(like.dtype)

    def _rotate(self, x, cos, sin):
        out = torch.empty_like(x)
        half = self.r // 2
        out[..., :half] = x[..., :half] * cos - x[..., half:] * sin
        out[..., half:] = x[..., :half] * sin + x[..., half:] * cos
        return out

    def _extend(self, x, cache):
        past = 0 if cache is None else cache.size(1)
        cos, sin = self._rotation(past, past + x.size(1), x)
        row = torch.cat([self.kv_down(x), self._rotate(self.k_rope(x), cos, sin)], dim=2)
        return past, cos, sin, row if cache is None else torch.cat([cache, row], dim=1)

    def forward(self, x, cache=None):
        b, t, _ = x.size()
        past, cos, sin, cache = self._extend(x, cache)
        q = self.q_proj(x).view(b, t, self.n, self.d + self.r).transpose(1, 2)
        q = torch.cat([q[..., : self.d], self._rotate(q[..., self.d :], cos, sin)], dim=-1)
        k = self.k_up(cache[..., : self.m]).view(b, past + t, self.n, self.d).transpose(1, 2)
        k = torch.cat([k, cache[:, None, :, self.m :].repeat(1, self.n, 1, 1)], dim=-1)
        v = self.v_up(cache[..., : self.m]).view(b, past + t, self.n, self.d).transpose(1, 2)
        bias = torch.full((t, past + t), -math.inf, device=x.device, dtype=x.dtype).triu(past + 1)
        a = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.d + self.r) + bias, dim=-1)
        return self.out_proj((a @ v).transpose(1, 2).reshape(b, t, -1)), cache

    def absorbed_step(self, x, cache):
        past, cos, sin, cache = self._extend(x, cache)
        w_q = self.q_proj.weight.view(self.n, self.d + self.r, -1)
        w_latent = self.k_up.weight.view(self.n, self.d, -1).transpose(1, 2) @ w_q[:, : self.d]  # (n, m, d_in)
        w_out = self.out_proj.weight.view(-1, self.n, self.d).transpose(0, 1) @ self.v_up.weight.view(
            self.n, self.d, -1
        )  # (n, d_in, m)
        q_latent = (w_latent @ x.transpose(1, 2).unsqueeze(1)).transpose(2, 3)  # (b, n, 1, m)
        q_rope = (w_q[:, self.d :] @ x.transpose(1, 2).unsqueeze(1)).transpose(2, 3)
        q = torch.cat([q_latent, self._rotate(q_rope, cos, sin)], dim=-1)
        a = torch.softmax(q @ cache.unsqueeze(1).transpose(-2, -1) / math.sqrt(self.d + self.r), dim=-1)
        mixed = a @ cache[..., : self.m].unsqueeze(1)  # (b, n, 1, m)
        return (w_out @ mixed.transpose(2, 3)).sum(dim=1).transpose(1, 2), cache
