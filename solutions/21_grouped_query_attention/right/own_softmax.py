"""Style: scaled queries, a softmax of its own with the maximum taken off, half types computed in float32."""

import torch
from torch import nn


def repeat_kv(x, repeats):
    return x.repeat(1, 1, repeats, 1).unflatten(2, (repeats, -1)).flatten(1, 2)


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, num_kv_groups):
        super().__init__()
        if d_out % num_heads:
            raise ValueError("heads")
        if num_heads % num_kv_groups:
            raise ValueError("groups")
        self.counts = num_heads, num_kv_groups, num_kv_groups
        size = d_out // num_heads
        for name, count in zip(("W_query", "W_key", "W_value"), self.counts):
            self.add_module(name, nn.Linear(d_in, count * size, bias=False))
        self.add_module("out_proj", nn.Linear(d_out, d_out))

    def forward(self, x):
        wide = torch.float64 if x.dtype == torch.float64 else torch.float32
        layers = (self.W_query, self.W_key, self.W_value)
        q, k, v = (layer(x).to(wide).unflatten(-1, (n, -1)).movedim(2, 1) for layer, n in zip(layers, self.counts))
        k, v = (repeat_kv(part, q.shape[1] // part.shape[1]) for part in (k, v))
        scores = (q / q.shape[-1] ** 0.5) @ k.transpose(2, 3)
        row = torch.arange(x.shape[1], device=x.device)
        scores = torch.where(row[:, None] >= row, scores, -torch.inf)
        exps = (scores - scores.amax(-1, keepdim=True)).exp()
        context = exps @ v / exps.sum(-1, keepdim=True)
        return self.out_proj(context.movedim(1, 2).flatten(2).to(x.dtype))
