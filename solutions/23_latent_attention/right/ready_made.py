"""Style: torch's own attention for both ways; keys are joined with the rotated one, repeated for all heads."""

import torch
import torch.nn.functional as F
from torch import nn


def cache_numbers(kind, num_heads, num_kv_heads, head_dim, d_latent, d_rope):
    try:
        return {
            "mha": 2 * num_heads * head_dim,
            "gqa": 2 * num_kv_heads * head_dim,
            "mqa": 2 * head_dim,
            "mla": d_latent + d_rope,
        }[kind]
    except KeyError:
        raise ValueError(f"unknown kind {kind}") from None


class LatentAttention(nn.Module):
    def __init__(self, d_in, num_heads, head_dim, d_latent, d_rope, rope_theta=10_000.0):
        super().__init__()
        self.num_heads, self.head_dim, self.d_latent, self.d_rope = num_heads, head_dim, d_latent, d_rope
        self.scale = 1.0 / (head_dim + d_rope) ** 0.5
        inner = num_heads * head_dim
        self.q_proj = nn.Linear(d_in, num_heads * (head_dim + d_rope), bias=False)
        self.kv_down = nn.Linear(d_in, d_latent, bias=False)
        self.k_rope = nn.Linear(d_in, d_rope, bias=False)
        self.k_up = nn.Linear(d_latent, inner, bias=False)
        self.v_up = nn.Linear(d_latent, inner, bias=False)
        self.out_proj = nn.Linear(inner, d_in, bias=False)
        self.register_buffer("speeds", rope_theta ** -(torch.arange(0, d_rope, 2) / d_rope), persistent=False)

    def turn(self, x, past):
        places = torch.arange(past, past + x.shape[-2], device=x.device)
        angles = torch.outer(places.to(self.speeds.dtype), self.speeds).repeat(1, 2)
        swapped = torch.cat([-x[..., self.d_rope // 2 :], x[..., : self.d_rope // 2]], dim=-1)
        return (x * angles.cos() + swapped * angles.sin()).type_as(x)

    def heads(self, x):
        return x.view(x.shape[0], x.shape[1], self.num_heads, -1).permute(0, 2, 1, 3)

    def longer(self, x, cache, past):
        new = torch.cat((self.kv_down(x), self.turn(self.k_rope(x), past)), dim=2)
        return new if past == 0 else torch.cat((cache, new), dim=1)

    def forward(self, x, cache=None):
        past = cache.shape[1] if cache is not None else 0
        cache = self.longer(x, cache, past)
        q, q_rope = self.heads(self.q_proj(x)).tensor_split([self.head_dim], dim=-1)
        latent, k_rope = cache.tensor_split([self.d_latent], dim=-1)
        k = self.heads(self.k_up(latent))
        k = torch.cat([k, k_rope[:, None].expand(-1, self.num_heads, -1, -1)], dim=-1)
        q = torch.cat([q, self.turn(q_rope, past)], dim=-1)
        mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=x.device).tril(past)
        out = F.scaled_dot_product_attention(q, k, self.heads(self.v_up(latent)), attn_mask=mask)
        return self.out_proj(out.permute(0, 2, 1, 3).reshape(x.shape[0], x.shape[1], -1)), cache

    def absorbed_step(self, x, cache):
        past = cache.shape[1]
        cache = self.longer(x, cache, past)
        q, q_rope = self.heads(self.q_proj(x)).tensor_split([self.head_dim], dim=-1)
        k_up, v_up = (w.weight.view(self.num_heads, self.head_dim, -1) for w in (self.k_up, self.v_up))
        q = torch.cat([q @ k_up, self.turn(q_rope, past)], dim=-1)
        keys = cache.unsqueeze(1).expand(-1, self.num_heads, -1, -1)
        mixed = F.scaled_dot_product_attention(q, keys, keys[..., : self.d_latent], scale=self.scale)
        out = mixed @ v_up.transpose(1, 2)
        return self.out_proj(out.permute(0, 2, 1, 3).reshape(x.shape[0], 1, -1)), cache
