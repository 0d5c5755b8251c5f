"""Style: einops, torch's fused attention, and a mask of the visible tokens."""

import torch
from torch import nn
from einops import rearrange


class CachedAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads):
        super().__init__()
        self.h = num_heads
        self.W_query, self.W_key, self.W_value = (nn.Linear(d_in, d_out, bias=False) for _ in range(3))
        self.out_proj = nn.Linear(d_out, d_out)

    def heads(self, x):
        return rearrange(x, "b t (h d) -> b h t d", h=self.h)

    def forward(self, x, cache=None):
        q, k, v = self.heads(self.W_query(x)), self.heads(self.W_key(x)), self.heads(self.W_value(x))
        if cache:
            old_k, old_v = cache
            k, v = torch.cat((old_k, k), -2), torch.cat((old_v, v), -2)
        t, s = q.size(-2), k.size(-2)
        sees = torch.ones(t, s, dtype=torch.bool, device=x.device).tril(s - t)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=sees)
        return self.out_proj(rearrange(y, "b h t d -> b t (h d)")), (k, v)
