"""Style: the rows in the order values, keys, queries; split by sizes; load_state_dict; an additive mask made each time."""

import torch
from torch import nn
from torch.nn import functional as F

ORDER = ("W_value", "W_key", "W_query")


class FusedMultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads, self.rate, self.d_out = num_heads, dropout, d_out
        self.qkv = nn.Linear(d_in, len(ORDER) * d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out, bias=True)

    def heads(self, part):
        return part.unflatten(-1, (self.num_heads, -1)).movedim(-2, -3)

    def forward(self, x):
        values, keys, queries = map(self.heads, torch.split(self.qkv(x), self.d_out, dim=-1))
        tokens = x.shape[-2]
        mask = torch.full((tokens, tokens), -torch.inf, dtype=x.dtype, device=x.device).triu(1)
        rate = self.rate if self.training else 0
        context = F.scaled_dot_product_attention(queries, keys, values, mask, rate)
        return self.out_proj(context.movedim(-3, -2).flatten(-2))

    def load_unfused(self, state_dict):
        own = {key: value for key, value in state_dict.items() if key.startswith("out_proj.")}
        for part in ("weight", "bias"):
            if f"qkv.{part}" in self.state_dict():
                own[f"qkv.{part}"] = torch.cat([state_dict[f"{name}.{part}"] for name in ORDER])
        self.load_state_dict(own, strict=False)
