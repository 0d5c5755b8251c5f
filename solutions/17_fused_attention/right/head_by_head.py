"""Style: the fused function called for one head after the other; .data and slices in the loading."""

import torch
import torch.nn.functional as F
from torch import nn


class FusedMultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.qkv = nn.Linear(d_in, 3 * d_out, qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout, self.d_out, self.size = dropout, d_out, d_out // num_heads

    def forward(self, x):
        q, k, v = (part.split(self.size, -1) for part in self.qkv(x).tensor_split(3, -1))
        p = self.dropout if self.training else 0.0
        heads = [F.scaled_dot_product_attention(*qkv, is_causal=True, dropout_p=p) for qkv in zip(q, k, v)]
        return self.out_proj(torch.cat(heads, -1))

    def load_unfused(self, state_dict):
        for key, value in state_dict.items():
            name, _, part = key.partition(".")
            if name in ("W_query", "W_key", "W_value"):
                start = ("W_query", "W_key", "W_value").index(name) * self.d_out
                getattr(self.qkv, part).data[start : start + self.d_out] = value
            elif name == "out_proj":
                getattr(self.out_proj, part).data = value.clone()
