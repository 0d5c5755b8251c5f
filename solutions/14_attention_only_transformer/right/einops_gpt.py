"""Style: as in nanoGPT, with einops for the heads."""

import math
from einops import rearrange
import torch
import torch.nn as nn
import torch.nn.functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, context_length):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        self.num_heads, self.context_length = num_heads, context_length
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)

    def _heads(self, t):
        return rearrange(t, "b t (h d) -> b h t d", h=self.num_heads)

    def attention_weights(self, x):
        T = x.shape[1]
        if T > self.context_length:
            raise ValueError("too long")
        q, k = self._heads(self.W_query(x)), self._heads(self.W_key(x))
        att = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        mask = torch.triu(torch.ones(T, T, dtype=torch.bool, device=x.device), 1)
        return F.softmax(att.masked_fill(mask, float("-inf")), dim=-1)

    def forward(self, x):
        att = self.attention_weights(x)
        y = att @ self._heads(self.W_value(x))
        y = rearrange(y, "b h t d -> b t (h d)")
        return self.out_proj(y)


class AttentionOnlyTransformer(nn.Module):
    def __init__(self, vocab_size, d_model, context_length, num_layers, num_heads):
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        self.layers = nn.ModuleList(
            [CausalSelfAttention(d_model, num_heads, context_length) for _ in range(num_layers)]
        )
        self.unembedding = nn.Linear(d_model, vocab_size, bias=False)

    def embed(self, idx):
        T = idx.shape[1]
        if T > self.context_length:
            raise ValueError("too many tokens")
        pos = torch.arange(T, device=idx.device)
        return self.token_embedding(idx) + self.position_embedding(pos)

    def forward(self, token_ids):
        x = self.embed(token_ids)
        for layer in self.layers:
            x = x + layer(x)
        return self.unembedding(x)


def all_attention_weights(model, token_ids):
    x = model.embed(token_ids)
    out = []
    for layer in model.layers:
        out.append(layer.attention_weights(x))
        x = x + layer(x)
    return torch.stack(out)


def next_token_loss(logits, token_ids):
    B, T, V = logits.shape
    return F.cross_entropy(rearrange(logits[:, :-1], "b t v -> b v t"), token_ids[:, 1:], reduction="none")


@torch.no_grad()
def generate(model, token_ids, max_new_tokens):
    idx = token_ids.clone()
    for _ in range(max_new_tokens):
        idx_cond = idx[:, -model.context_length :]
        logits = model(idx_cond)
        nxt = logits[:, -1, :].argmax(dim=-1, keepdim=True)
        idx = torch.cat((idx, nxt), dim=1)
    return idx
