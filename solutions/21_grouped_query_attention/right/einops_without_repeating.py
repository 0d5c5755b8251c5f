"""Style: einops; groups are a dimension of their own, so that no key is repeated."""

import torch
from torch import nn
from einops import rearrange, repeat, einsum


def repeat_kv(x, repeats):
    return repeat(x, "b g t d -> b (g r) t d", r=repeats)


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, num_kv_groups):
        super().__init__()
        for whole, part in ((d_out, num_heads), (num_heads, num_kv_groups)):
            if whole % part:
                raise ValueError(f"{part} does not divide {whole}")
        self.groups, self.d = num_kv_groups, d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, num_kv_groups * self.d, bias=False)
        self.W_value = nn.Linear(d_in, num_kv_groups * self.d, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        q = rearrange(self.W_query(x), "b t (g r d) -> b g r t d", g=self.groups, d=self.d)
        k, v = (rearrange(w(x), "b s (g d) -> b g s d", d=self.d) for w in (self.W_key, self.W_value))
        scores = einsum(q, k, "b g r t d, b g s d -> b g r t s") * self.d**-0.5
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
        attn = scores.masked_fill(future, float("-inf")).softmax(-1)
        out = einsum(attn, v, "b g r t s, b g s d -> b g r t d")
        return self.out_proj(rearrange(out, "b g r t d -> b t (g r d)"))
