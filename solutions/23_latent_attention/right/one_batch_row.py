"""Style: each sequence of the batch by itself, F.linear with views of the weights, angles kept as a growing list."""

import torch
from torch import nn
from torch.nn import functional as F


def cache_numbers(kind, num_heads, num_kv_heads, head_dim, d_latent, d_rope):
    kinds = ["mha", "gqa", "mqa", "mla"]
    if kind not in kinds:
        raise ValueError(f"choose one of {kinds}")
    return [2 * num_heads * head_dim, 2 * num_kv_heads * head_dim, 2 * head_dim, d_latent + d_rope][kinds.index(kind)]


def angles(positions, d_rope, theta):
    return torch.stack([positions / theta ** (2 * i / d_rope) for i in range(d_rope // 2)], dim=-1)


def turn(x, angle):
    c, s = torch.cos(angle).to(x.dtype), torch.sin(angle).to(x.dtype)
    a, b = x.split(x.shape[-1] // 2, dim=-1)
    return (
        torch.hstack([a * c - b * s, a * s + b * c]) if x.ndim == 2 else torch.cat([a * c - b * s, a * s + b * c], -1)
    )


class LatentAttention(nn.Module):
    def __init__(self, d_in, num_heads, head_dim, d_latent, d_rope, rope_theta=10_000.0):
        super().__init__()
        self.num_heads, self.head_dim, self.d_latent, self.d_rope = num_heads, head_dim, d_latent, d_rope
        self.rope_theta = rope_theta
        make = lambda size_in, size_out: nn.Linear(size_in, size_out, bias=False)  # noqa: E731
        self.q_proj = make(d_in, num_heads * (head_dim + d_rope))
        self.kv_down = make(d_in, d_latent)
        self.k_rope = make(d_in, d_rope)
        self.k_up = make(d_latent, num_heads * head_dim)
        self.v_up = make(d_latent, num_heads * head_dim)
        self.out_proj = make(num_heads * head_dim, d_in)

    def one(self, x, old, absorbed):
        """One sequence: x (T, d_in), old (T_past, d_latent + d_rope)."""
        angle = angles(torch.arange(len(old), len(old) + len(x), device=x.device), self.d_rope, self.rope_theta)
        cache = torch.vstack([old, torch.hstack([self.kv_down(x), turn(self.k_rope(x), angle)])])
        latent, shared = cache[:, : self.d_latent], cache[:, self.d_latent :]
        q = self.q_proj(x).view(len(x), self.num_heads, -1).movedim(1, 0)  # (H, T, h + r)
        k_up, v_up = (w.weight.view(self.num_heads, self.head_dim, self.d_latent) for w in (self.k_up, self.v_up))
        if absorbed:
            scores = torch.matmul(q[..., : self.head_dim] @ k_up, latent.T)
        else:
            keys = F.linear(latent, k_up.flatten(0, 1)).view(len(cache), *k_up.shape[:2])
            scores = q[..., : self.head_dim] @ keys.permute(1, 2, 0)
        scores = scores + turn(q[..., self.head_dim :], angle) @ shared.T
        hidden = torch.ones_like(scores, dtype=torch.bool).triu(len(old) + 1)
        weights = (scores * (self.head_dim + self.d_rope) ** -0.5).masked_fill(hidden, -torch.inf).softmax(dim=-1)
        if absorbed:
            context = weights @ latent @ v_up.mT
        else:
            context = weights @ F.linear(latent, v_up.flatten(0, 1)).view(len(cache), *v_up.shape[:2]).movedim(1, 0)
        return self.out_proj(context.movedim(0, 1).flatten(1)), cache

    def forward(self, x, cache=None):
        if cache is None:
            cache = x.new_zeros(len(x), 0, self.d_latent + self.d_rope)
        answers = [self.one(row, old, False) for row, old in zip(x, cache)]
        return tuple(torch.stack(part) for part in zip(*answers))

    def absorbed_step(self, x, cache):
        answers = [self.one(row, old, True) for row, old in zip(x, cache)]
        return tuple(torch.stack(part) for part in zip(*answers))
