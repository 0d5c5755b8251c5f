"""Loops over sequences and tokens: each token looks at a slice of the past."""

import torch
from torch import nn


class AttentionHead(nn.Module):
    def __init__(self, embed_dim, head_size):
        super().__init__()
        self.query = nn.Linear(embed_dim, head_size, bias=False)
        self.key = nn.Linear(embed_dim, head_size, bias=False)
        self.value = nn.Linear(embed_dim, head_size, bias=False)
        self.head_size = head_size

    def forward(self, x):
        sequences = []
        for tokens in x:
            keys, values = self.key(tokens), self.value(tokens)
            rows = []
            for token in tokens:
                scores = keys.mv(self.query(token)) * self.head_size**-0.5
                rows.append(scores.softmax(0) @ values)
            sequences.append(torch.stack(rows))
        return torch.stack(sequences)


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if num_heads * (embed_dim // num_heads) != embed_dim:
            raise ValueError(f"embed_dim ({embed_dim}) must be divisible by num_heads ({num_heads})")
        self.heads = nn.ModuleList()
        for _ in range(num_heads):
            self.heads.append(AttentionHead(embed_dim, embed_dim // num_heads))
        self.output_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        outputs = ()
        for head in self.heads:
            outputs += (head(x),)
        return self.output_linear(torch.cat(outputs, dim=2))


class CausalHead(nn.Module):
    def __init__(self, embed_dim, head_size):
        super().__init__()
        self.key = nn.Linear(embed_dim, head_size)
        self.query = nn.Linear(embed_dim, head_size)
        self.value = nn.Linear(embed_dim, head_size)
        self.out = nn.Linear(head_size, embed_dim)

    def forward(self, x):
        keys, queries, values = self.key(x), self.query(x), self.value(x)
        rows = []
        for t in range(x.shape[1]):
            past = slice(0, t + 1)
            scores = (queries[:, past] * keys[:, t : t + 1]).sum(-1)  # (B, t + 1)
            weights = torch.softmax(scores, dim=-1)
            rows.append((weights.unsqueeze(-1) * values[:, past]).sum(1))
        return self.out(torch.stack(rows, dim=1))


if __name__ == "__main__":
    print(MultiHeadSelfAttention(32, 4)(torch.randn(1, 3, 32)).shape)
