"""Style: one head of the stream after the other; a gather for the stripe; numpy-like indexing"""

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


def repeated_tokens(batch, period, vocab_size, generator=None):
    half = torch.randint(0, vocab_size, (batch, period), generator=generator)
    return half[:, torch.arange(2 * period) % period]


def previous_token_score(weights):
    shifted = nn.functional.pad(weights, (1, 0))[..., :-1]
    return torch.diagonal(shifted, dim1=-2, dim2=-1).sum(-1) / (weights.size(-1) - 1)


def induction_score(weights, period):
    columns = (torch.arange(period, device=weights.device) + 1)[:, None].expand(*weights.shape[:-2], period, 1)
    return weights[..., period:, :].gather(-1, columns).mean(dim=(-2, -1))


def second_half_loss(model, token_ids):
    period = token_ids.size(1) // 2
    losses = next_token_loss(model(token_ids), token_ids)
    foretold = [losses[:, t - 1] for t in range(period + 1, 2 * period)]
    return torch.stack(foretold).mean()


def without_head(model, token_ids, layer, head):
    x = model.token_embedding(token_ids) + model.position_embedding.weight[: token_ids.size(1)]
    for i, part in enumerate(model.layers):
        added = torch.zeros_like(x)
        for h in range(part.num_heads):
            if (i, h) != (layer, head):
                columns = slice(h * part.head_dim, (h + 1) * part.head_dim)
                weights, values = part.head(x, h)
                added = added + (weights @ values) @ part.out_proj.weight[:, columns].T
        x = x + added
    return model.unembedding(x)


def find_induction_head(model, token_ids):
    weights = all_attention_weights(model, token_ids)
    scores = induction_score(weights, token_ids.size(1) // 2).mean(1)
    number = int(torch.argmax(scores))
    return number // model.layers[0].num_heads, number % model.layers[0].num_heads
