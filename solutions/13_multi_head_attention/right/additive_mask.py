"""Style: an additive mask of −inf as buffer, heads folded into the batch, baddbmm, half types computed in float32."""

from typing import Final

import torch
from torch import nn
from torch.nn import functional as F

WIDE: Final = {torch.float16: torch.float32, torch.bfloat16: torch.float32}


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    batch, tokens, size = x.size()
    return torch.movedim(x.reshape(batch, tokens, num_heads, size // num_heads), 2, 1)


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    return x.movedim(1, 2).flatten(2)


def project_heads(inputs: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return (inputs[None, :, None, :] * weights[:, None, :, :]).sum(dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads > 0:
            raise ValueError
        self.num_heads = num_heads
        self.dropout = dropout
        self.W_query = nn.Linear(in_features=d_in, out_features=d_out, bias=qkv_bias)
        self.W_key = nn.Linear(in_features=d_in, out_features=d_out, bias=qkv_bias)
        self.W_value = nn.Linear(in_features=d_in, out_features=d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(in_features=d_out, out_features=d_out, bias=True)
        self.register_buffer("bias", torch.full((1, context_length, context_length), float("-inf")).triu(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, _ = x.shape
        wide = WIDE.get(x.dtype, x.dtype)
        q, k, v = (
            split_heads(layer(x), self.num_heads).flatten(0, 1).to(wide)
            for layer in (self.W_query, self.W_key, self.W_value)
        )
        mask = self.bias[:, :tokens, :tokens].to(wide).expand(len(q), -1, -1)
        scores = torch.baddbmm(mask, q, k.transpose(-1, -2), alpha=q.shape[-1] ** -0.5)
        weights = F.dropout(F.softmax(scores, dim=-1), self.dropout, self.training)
        context = (weights @ v).to(x.dtype).unflatten(0, (batch, self.num_heads))
        return self.out_proj(merge_heads(context))
