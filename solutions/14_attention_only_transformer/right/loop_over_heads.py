"""Style: a loop over the heads, each with its slice of the weights; a mask buffer; inference_mode; kept weights."""

import math

import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, context_length):
        super().__init__()
        self.head_dim, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"{d_model} / {num_heads}")
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
        self.register_buffer("past", torch.tril(torch.ones(context_length, context_length)) == 1)
        self.num_heads = num_heads

    def head(self, x, h):
        part = slice(h * self.head_dim, (h + 1) * self.head_dim)
        q = x @ self.W_query.weight[part].T
        k = x @ self.W_key.weight[part].T
        t = x.size(1)
        scores = torch.einsum("bqd,bkd->bqk", q, k) / math.sqrt(self.head_dim)
        scores = torch.where(self.past[:t, :t], scores, float("-inf"))
        return scores.softmax(-1), x @ self.W_value.weight[part].T

    def attention_weights(self, x):
        if x.size(1) > len(self.past):
            raise ValueError("too long")
        return torch.stack([self.head(x, h)[0] for h in range(self.num_heads)], dim=1)

    def forward(self, x):
        if x.size(1) > len(self.past):
            raise ValueError("too long")
        outputs = [weights @ values for weights, values in (self.head(x, h) for h in range(self.num_heads))]
        return self.out_proj(torch.cat(outputs, dim=-1))


class AttentionOnlyTransformer(nn.Module):
    def __init__(self, vocab_size, d_model, context_length, num_layers, num_heads):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            self.layers.append(CausalSelfAttention(d_model, num_heads, context_length))
        self.unembedding = nn.Linear(d_model, vocab_size, bias=False)
        self.context_length = context_length
        self.kept = None

    def forward(self, token_ids):
        batch, tokens = token_ids.shape
        if tokens > self.context_length:
            raise ValueError(f"at most {self.context_length} tokens")
        positions = torch.arange(tokens, device=token_ids.device).expand(batch, tokens)
        x = self.token_embedding(token_ids) + self.position_embedding(positions)
        self.kept = []
        for layer in self.layers:
            self.kept.append(layer.attention_weights(x))
            x = x + layer(x)
        return self.unembedding(x)


def all_attention_weights(model, token_ids):
    model(token_ids)
    return torch.stack(model.kept)


def next_token_loss(logits, token_ids):
    columns = []
    for t in range(token_ids.size(1) - 1):
        columns.append(nn.functional.cross_entropy(logits[:, t], token_ids[:, t + 1], reduction="none"))
    return torch.stack(columns, dim=1)


def generate(model, token_ids, max_new_tokens):
    was_training = model.training
    model.eval()
    text = token_ids.clone()
    with torch.inference_mode():
        for _ in range(max_new_tokens):
            window = text[:, -model.context_length :]
            _, best = model(window)[:, -1].max(dim=-1)
            text = torch.cat((text, best.unsqueeze(1)), dim=1)
    model.train(was_training)
    return text
