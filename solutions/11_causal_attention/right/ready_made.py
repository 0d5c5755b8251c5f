"""Style: torch's fused attention with is_causal and dropout_p, no mask of its own, heads in a base class."""

import torch
import torch.nn.functional as F


class CausalAttention(torch.nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.context_length, self.p = context_length, dropout
        self.W_query = torch.nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = torch.nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = torch.nn.Linear(d_in, d_out, qkv_bias)

    def forward(self, x):
        if x.size(1) > self.context_length:
            raise ValueError("too many tokens")
        return F.scaled_dot_product_attention(
            self.W_query(x),
            self.W_key(x),
            self.W_value(x),
            is_causal=True,
            dropout_p=self.p if self.training else 0.0,
        )


class MultiHeadAttentionWrapper(torch.nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = torch.nn.ModuleList()
        for _ in range(num_heads):
            self.heads.append(
                CausalAttention(
                    d_in=d_in, d_out=d_out, context_length=context_length, dropout=dropout, qkv_bias=qkv_bias
                )
            )

    def forward(self, x):
        return torch.concat(tuple(head(x) for head in self.heads), -1)
