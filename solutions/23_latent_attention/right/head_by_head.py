"""Style: a loop over heads, each with slices of the weights; complex numbers turn; one query at a time is masked."""

import torch
from torch import nn


def cache_numbers(kind, num_heads, num_kv_heads, head_dim, d_latent, d_rope):
    if kind == "mla":
        return d_latent + d_rope
    if kind == "mqa":
        num_kv_heads = 1
    elif kind == "mha":
        num_kv_heads = num_heads
    elif kind != "gqa":
        raise ValueError("kind is mha, gqa, mqa or mla")
    return num_kv_heads * head_dim * 2


class LatentAttention(nn.Module):
    def __init__(self, d_in, num_heads, head_dim, d_latent, d_rope, rope_theta=10_000.0):
        super().__init__()
        self.sizes = num_heads, head_dim, d_latent, d_rope
        self.theta = rope_theta
        for name, given, made in (
            ("q_proj", d_in, num_heads * (head_dim + d_rope)),
            ("kv_down", d_in, d_latent),
            ("k_rope", d_in, d_rope),
            ("k_up", d_latent, num_heads * head_dim),
            ("v_up", d_latent, num_heads * head_dim),
            ("out_proj", num_heads * head_dim, d_in),
        ):
            self.add_module(name, nn.Linear(given, made, bias=False))

    def turn(self, x, first):
        d_rope = self.sizes[3]
        speeds = self.theta ** (-torch.arange(0, d_rope, 2, dtype=torch.float64) / d_rope)
        places = torch.arange(first, first + x.shape[1], dtype=torch.float64)
        cos, sin = (f(places[:, None] * speeds).to(x) for f in (torch.cos, torch.sin))
        real, imaginary = x[..., : d_rope // 2], x[..., d_rope // 2 :]
        return torch.cat([real * cos - imaginary * sin, real * sin + imaginary * cos], dim=-1)

    def add(self, x, cache):
        past = 0 if cache is None else cache.shape[1]
        parts = [] if cache is None else [cache]
        return past, torch.cat([*parts, torch.cat([self.kv_down(x), self.turn(self.k_rope(x), past)], -1)], dim=1)

    def attend(self, x, cache, absorbed):
        H, h, c, r = self.sizes
        past, cache = self.add(x, cache)
        latent, k_rope = cache[..., :c], cache[..., c:]
        questions = self.q_proj(x)
        outputs = []
        for head in range(H):
            q = questions[..., head * (h + r) : (head + 1) * (h + r)]
            plain, turned = q[..., :h], self.turn(q[..., h:], past)
            k_up = self.k_up.weight[head * h : (head + 1) * h]
            v_up = self.v_up.weight[head * h : (head + 1) * h]
            scores = (plain @ k_up) @ latent.mT if absorbed else plain @ (latent @ k_up.T).mT
            scores = (scores + turned @ k_rope.mT) / (h + r) ** 0.5
            later = torch.arange(cache.shape[1], device=x.device) > torch.arange(
                past, past + x.shape[1], device=x.device
            ).unsqueeze(1)
            weights = scores.masked_fill(later, -torch.inf).softmax(-1)
            outputs.append((weights @ latent) @ v_up.T if absorbed else weights @ (latent @ v_up.T))
        return self.out_proj(torch.cat(outputs, -1)), cache

    def forward(self, x, cache=None):
        return self.attend(x, cache, absorbed=False)

    def absorbed_step(self, x, cache):
        return self.attend(x, cache, absorbed=True)
