"""Style: einsum for every product; the rotation written out again; new keys only are rotated."""

import torch
from torch import einsum, nn


def rotate(x, start, theta):
    half = x.shape[-1] // 2
    speed = theta ** -(torch.arange(half, device=x.device, dtype=torch.float64) / half)
    angle = torch.arange(start, start + x.shape[-2], device=x.device, dtype=torch.float64)[:, None] * speed
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def cache_numbers(kind, num_heads, num_kv_heads, head_dim, d_latent, d_rope):
    match kind:
        case "mha":
            return 2 * num_heads * head_dim
        case "gqa":
            return 2 * num_kv_heads * head_dim
        case "mqa":
            return 2 * head_dim
        case "mla":
            return d_latent + d_rope
    raise ValueError(kind)


class LatentAttention(nn.Module):
    def __init__(self, d_in, num_heads, head_dim, d_latent, d_rope, rope_theta=10_000.0):
        super().__init__()
        self.H, self.h, self.c, self.r, self.theta = num_heads, head_dim, d_latent, d_rope, rope_theta
        self.q_proj = nn.Linear(d_in, num_heads * (head_dim + d_rope), bias=False)
        self.kv_down = nn.Linear(d_in, d_latent, bias=False)
        self.k_rope = nn.Linear(d_in, d_rope, bias=False)
        self.k_up = nn.Linear(d_latent, num_heads * head_dim, bias=False)
        self.v_up = nn.Linear(d_latent, num_heads * head_dim, bias=False)
        self.out_proj = nn.Linear(num_heads * head_dim, d_in, bias=False)

    def start(self, x, cache):
        past = 0 if cache is None else cache.size(1)
        fresh = torch.cat([self.kv_down(x), rotate(self.k_rope(x), past, self.theta)], -1)
        cache = fresh if cache is None else torch.cat([cache, fresh], 1)
        q = self.q_proj(x).reshape(*x.shape[:2], self.H, self.h + self.r)
        q_rope = rotate(q[..., self.h :].transpose(1, 2), past, self.theta)
        return past, q[..., : self.h], q_rope, cache

    def forward(self, x, cache=None):
        past, q, q_rope, cache = self.start(x, cache)
        c, k_rope = cache[..., : self.c], cache[..., self.c :]
        k = self.k_up(c).reshape(*c.shape[:2], self.H, self.h)
        v = self.v_up(c).reshape(*c.shape[:2], self.H, self.h)
        scores = einsum("bqhd,bkhd->bhqk", q, k) + einsum("bhqr,bkr->bhqk", q_rope, k_rope)
        rows = torch.arange(past, past + x.size(1), device=x.device)[:, None]
        seen = torch.arange(cache.size(1), device=x.device) <= rows
        scores = torch.where(seen, scores / (self.h + self.r) ** 0.5, float("-inf"))
        out = einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v)
        return self.out_proj(out.reshape(*x.shape[:2], -1)), cache

    def absorbed_step(self, x, cache):
        _, q, q_rope, cache = self.start(x, cache)
        c, k_rope = cache[..., : self.c], cache[..., self.c :]
        k_up = self.k_up.weight.view(self.H, self.h, self.c)
        v_up = self.v_up.weight.view(self.H, self.h, self.c)
        q_latent = einsum("bqhd,hdc->bqhc", q, k_up)
        scores = einsum("bqhc,bkc->bhqk", q_latent, c) + einsum("bhqr,bkr->bhqk", q_rope, k_rope)
        mixed = einsum("bhqk,bkc->bqhc", (scores / (self.h + self.r) ** 0.5).softmax(-1), c)
        out = einsum("bqhc,hdc->bqhd", mixed, v_up)
        return self.out_proj(out.reshape(*x.shape[:2], -1)), cache
