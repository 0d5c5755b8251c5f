"""Style: loops over sequences and tokens, each token looks at a slice of the past; dropout by bernoulli; a lower-case buffer."""

import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.register_buffer("tril", torch.tril(torch.ones(context_length, context_length)))
        self.keep = 1.0 - dropout

    def dropped(self, weights):
        if not self.training or self.keep == 1.0:
            return weights
        return weights * torch.full_like(weights, self.keep).bernoulli() / self.keep

    def one(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)  # (T, d_out) each
        rows = []
        for i in range(len(x)):
            scores = k[: i + 1] @ q[i] / len(q[i]) ** 0.5  # (i + 1,)
            rows.append(self.dropped(scores.softmax(0)) @ v[: i + 1])
        return torch.stack(rows)

    def forward(self, x):
        if x.shape[1] > len(self.tril):
            raise ValueError(f"at most {len(self.tril)} tokens")
        return torch.stack([self.one(sequence) for sequence in x])


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList([])
        while len(self.heads) < num_heads:
            self.heads += [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)]

    def forward(self, x):
        context = self.heads[0](x)
        for head in list(self.heads)[1:]:
            context = torch.cat((context, head(x)), dim=2)
        return context
