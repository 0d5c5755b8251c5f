"""Style: the rows of qkv lie head by head, each with its queries, keys and values, as in GPT-NeoX; unbind."""

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as sdpa


class FusedMultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.h, self.p = num_heads, dropout
        self.qkv = nn.Linear(d_in, d_out * 3, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, self.h, 3, -1).permute(3, 0, 2, 1, 4).unbind(0)
        y = sdpa(q, k, v, is_causal=True, dropout_p=self.p * self.training)
        return self.out_proj(y.transpose(1, 2).reshape(b, t, -1))

    @torch.no_grad()
    def load_unfused(self, state_dict):
        def woven(part):
            pieces = [state_dict[f"W_{n}.{part}"] for n in ("query", "key", "value")]
            return torch.stack([p.unflatten(0, (self.h, -1)) for p in pieces], dim=1).flatten(0, 2)

        self.qkv.weight.copy_(woven("weight"))
        if self.qkv.bias is not None:
            self.qkv.bias.copy_(woven("bias"))
        self.out_proj.load_state_dict({k: state_dict[f"out_proj.{k}"] for k in ("weight", "bias")})
