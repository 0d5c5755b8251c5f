"""Style: torch's fused attention; is_causal at the start, a mask of positions behind a cache, none for one token."""

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention


class CachedAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads):
        super().__init__()
        self.h = num_heads
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Linear(d_in, d_out, bias=False))
        self.out_proj = nn.Linear(d_out, d_out)

    def heads(self, x):
        return x.view(*x.shape[:2], self.h, -1).transpose(1, 2)

    def forward(self, x, cache=None):
        q, k, v = (self.heads(layer(x)) for layer in (self.W_query, self.W_key, self.W_value))
        if cache is None:
            out = scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
            mask = None
            if x.size(1) > 1:
                place = torch.arange(k.size(2), device=x.device)
                mask = place <= place[-x.size(1) :, None]
            out = scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out_proj(out.transpose(1, 2).flatten(2)), (k, v)
