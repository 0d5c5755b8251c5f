"""Style: one stacked product for queries, keys and values; float64 inside the softmax; frozen while it writes."""

import torch
import torch.nn.functional as F
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, context_length: int):
        super().__init__()
        if d_model // num_heads * num_heads != d_model:
            raise ValueError(f"d_model={d_model} is not a multiple of num_heads={num_heads}")
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
        self.num_heads, self.limit = num_heads, context_length

    def project(self, x):
        if x.shape[-2] > self.limit:
            raise ValueError("context length exceeded")
        stacked = torch.cat([self.W_query.weight, self.W_key.weight, self.W_value.weight])
        q, k, v = F.linear(x, stacked).chunk(3, dim=-1)
        cut = lambda y: torch.stack(y.chunk(self.num_heads, dim=-1), dim=1)
        return cut(q), cut(k), cut(v)

    def weights_of(self, q, k):
        t = q.shape[-2]
        scores = torch.matmul(q, k.transpose(-1, -2)).double() / (q.shape[-1] ** 0.5)
        later = torch.arange(t, device=q.device)[None, :] > torch.arange(t, device=q.device)[:, None]
        scores = scores.masked_fill(later, float("-inf"))
        scores = scores - scores.amax(dim=-1, keepdim=True)
        exp = scores.exp()
        return (exp / exp.sum(dim=-1, keepdim=True)).to(q.dtype)

    def attention_weights(self, x):
        q, k, _ = self.project(x)
        return self.weights_of(q, k)

    def forward(self, x):
        q, k, v = self.project(x)
        mixed = torch.matmul(self.weights_of(q, k), v)
        return self.out_proj(torch.cat(mixed.unbind(dim=1), dim=-1))


class AttentionOnlyTransformer(nn.Module):
    def __init__(self, vocab_size: int, d_model: int, context_length: int, num_layers: int, num_heads: int):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        self.layers = nn.ModuleList(CausalSelfAttention(d_model, num_heads, context_length) for _ in range(num_layers))
        self.unembedding = nn.Linear(d_model, vocab_size, bias=False)

    def embed(self, token_ids):
        limit = self.position_embedding.weight.shape[0]
        if token_ids.shape[1] > limit:
            raise ValueError(f"more than {limit} tokens")
        return self.token_embedding.weight[token_ids] + self.position_embedding.weight[: token_ids.shape[1]]

    def forward(self, token_ids):
        x = self.embed(token_ids)
        for layer in self.layers:
            x = torch.add(x, layer(x))
        return x @ self.unembedding.weight.mT


def all_attention_weights(model, token_ids):
    x = model.embed(token_ids)
    shape = (len(model.layers), len(token_ids), model.layers[0].num_heads, token_ids.shape[1], token_ids.shape[1])
    found = torch.empty(shape, dtype=x.dtype, device=x.device)
    for number, layer in enumerate(model.layers):
        found[number] = layer.attention_weights(x)
        x = x + layer(x)
    return found


def next_token_loss(logits, token_ids):
    b, t, v = logits.shape
    flat = F.cross_entropy(logits[:, : t - 1].reshape(-1, v), token_ids[:, 1:].reshape(-1), reduction="none")
    return flat.view(b, t - 1)


def generate(model, token_ids, max_new_tokens):
    limit = model.position_embedding.weight.shape[0]
    frozen = [p for p in model.parameters() if p.requires_grad]
    for p in frozen:
        p.requires_grad_(False)
    try:
        for _ in range(max_new_tokens):
            last = model(token_ids[:, -limit:])[:, -1]
            best = (last == last.amax(dim=-1, keepdim=True)).int().argmax(dim=-1)
            token_ids = torch.hstack([token_ids, best[:, None]])
    finally:
        for p in frozen:
            p.requires_grad_(True)
    return token_ids
