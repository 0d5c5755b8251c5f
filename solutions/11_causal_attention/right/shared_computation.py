"""Style: half types through float32 and back, heads computed together from their stacked weights, mask moved in forward."""

import torch
from torch import nn
from torch.nn import functional as F


def attend(q, k, v, hidden, p, training):
    """(…, T, d) each."""
    dtype = q.dtype
    work = torch.promote_types(dtype, torch.float32)
    scores = (q.to(work) / q.shape[-1] ** 0.5) @ k.to(work).transpose(-2, -1)
    weights = F.softmax(scores.masked_fill(hidden.to(q.device), -1e9), dim=-1, dtype=work)
    return (F.dropout(weights, p=p, training=training) @ v.to(work)).to(dtype)


class Head(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        q, k, v = (nn.Linear(d_in, d_out, bias=qkv_bias) for _ in range(3))
        self.W_value, self.W_query, self.W_key = v, q, k
        self.hidden = ~torch.ones(context_length, context_length).tril().bool()
        self.p = dropout

    def check(self, x):
        if x.shape[1] > self.hidden.shape[1]:
            raise ValueError("The input is longer than the context.")
        return self.hidden[: x.shape[1], : x.shape[1]]

    def forward(self, x):
        hidden = self.check(x)
        return attend(self.W_query(x), self.W_key(x), self.W_value(x), hidden, self.p, self.training)


class CausalAttention(Head):
    pass


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        hidden, first = self.heads[0].check(x), self.heads[0]
        projected = []
        for name in ("W_query", "W_key", "W_value"):
            layers = [getattr(head, name) for head in self.heads]
            result = torch.einsum("bti,hoi->bhto", x, torch.stack([layer.weight for layer in layers]))
            if layers[0].bias is not None:
                result = result + torch.stack([layer.bias for layer in layers])[:, None]
            projected.append(result)
        context = attend(*projected, hidden, first.p, self.training)  # (B, H, T, d_out)
        return context.transpose(1, 2).reshape(*x.shape[:2], -1)
