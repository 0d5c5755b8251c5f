"""Style: einops cuts the projection into queries, keys, values and heads at once."""

import torch
from torch import nn
import torch.nn.functional as F
from einops import rearrange


class FusedMultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads:
            raise ValueError(f"{d_out} is not a multiple of {num_heads}")
        self.heads, self.p = num_heads, dropout
        self.qkv = nn.Linear(d_in, d_out * 3, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        q, k, v = rearrange(self.qkv(x), "b t (n h d) -> n b h t d", n=3, h=self.heads)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.p * self.training)
        return self.out_proj(rearrange(out, "b h t d -> b t (h d)"))

    def load_unfused(self, state_dict):
        own = {"out_proj.weight": state_dict["out_proj.weight"], "out_proj.bias": state_dict["out_proj.bias"]}
        for kind in ["weight"] + (["bias"] if self.qkv.bias is not None else []):
            own[f"qkv.{kind}"] = torch.cat([state_dict[f"W_{n}.{kind}"] for n in ("query", "key", "value")])
        self.load_state_dict(own)
