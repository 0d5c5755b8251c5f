"""Style: the scale put on the queries and scale=1.0 handed over; einsum; half types computed in float32; a mask by where."""

import torch
from torch import nn
from torch.nn import functional as F


class FusedMultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.dropout = dropout
        self.qkv = nn.Linear(d_in, 3 * d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = torch.float32 if x.dtype in (torch.bfloat16, torch.float16) else x.dtype
        qkv = torch.einsum("btd,ed->bte", x, self.qkv.weight)
        if self.qkv.bias is not None:
            qkv = qkv + self.qkv.bias
        q, k, v = qkv.to(wide).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4).contiguous()
        q = q * q.size(-1) ** -0.5
        rate = self.dropout if self.training else 0.0
        context = F.scaled_dot_product_attention(q, k, v, dropout_p=rate, is_causal=True, scale=1.0)
        context = torch.einsum("bhtd->bthd", context).flatten(2).to(x.dtype)
        return F.linear(context, self.out_proj.weight, self.out_proj.bias)

    def load_unfused(self, state_dict):
        parts = [("qkv.weight", [f"W_{n}.weight" for n in ("query", "key", "value")])]
        if self.qkv.bias is not None:
            parts.append(("qkv.bias", [f"W_{n}.bias" for n in ("query", "key", "value")]))
        parts += [("out_proj.weight", ["out_proj.weight"]), ("out_proj.bias", ["out_proj.bias"])]
        with torch.no_grad():
            for mine, theirs in parts:
                self.get_parameter(mine).set_(torch.cat([state_dict[name] for name in theirs]))
