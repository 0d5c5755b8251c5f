"""Style: the kernel is chosen by sdpa_kernel, which here makes all scores; heads of all three split at once; vstack."""

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention


class FusedMultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.qkv = nn.Linear(d_in, 3 * d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        batch, tokens, _ = x.shape
        heads = self.qkv(x).view(batch, tokens, 3 * self.num_heads, -1).transpose(1, 2)
        q, k, v = heads.tensor_split(3, dim=1)
        with sdpa_kernel(SDPBackend.MATH):
            out = scaled_dot_product_attention(
                query=q, key=k, value=v, is_causal=True, dropout_p=self.dropout if self.training else 0.0
            )
        return self.out_proj(out.permute(0, 2, 1, 3).reshape(batch, tokens, -1))

    def load_unfused(self, state_dict):
        three = ["W_query", "W_key", "W_value"]
        state = {"out_proj.weight": state_dict["out_proj.weight"], "out_proj.bias": state_dict["out_proj.bias"]}
        state["qkv.weight"] = torch.vstack([state_dict[f"{one}.weight"] for one in three])
        if self.qkv.bias is not None:
            state["qkv.bias"] = torch.hstack([state_dict[f"{one}.bias"] for one in three])
        self.load_state_dict(state)
