"""Style: as short as it gets; torch's own attention, and values that show the weights."""

import torch
import torch.nn.functional as F
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(s, d_model, num_heads, context_length):
        super().__init__()
        if d_model % num_heads:
            raise ValueError
        s.H, s.n = num_heads, context_length
        s.W_query, s.W_key, s.W_value, s.out_proj = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def _mix(s, x, v=None):
        if x.shape[1] > s.n:
            raise ValueError
        q, k, w = (f(x).unflatten(-1, (s.H, -1)).transpose(1, 2) for f in (s.W_query, s.W_key, s.W_value))
        return F.scaled_dot_product_attention(q, k, w if v is None else v.expand(*q.shape[:2], -1, -1), is_causal=True)

    def attention_weights(s, x):
        return s._mix(x, torch.eye(x.shape[1], dtype=x.dtype, device=x.device))

    def forward(s, x):
        return s.out_proj(s._mix(x).transpose(1, 2).flatten(2))


class AttentionOnlyTransformer(nn.Module):
    def __init__(s, vocab_size, d_model, context_length, num_layers, num_heads):
        super().__init__()
        s.token_embedding, s.position_embedding = (nn.Embedding(n, d_model) for n in (vocab_size, context_length))
        s.layers = nn.ModuleList([CausalSelfAttention(d_model, num_heads, context_length) for _ in range(num_layers)])
        s.unembedding = nn.Linear(d_model, vocab_size, bias=False)

    def streams(s, ids):
        if ids.shape[1] > s.position_embedding.num_embeddings:
            raise ValueError
        xs = [s.token_embedding(ids) + s.position_embedding.weight[: ids.shape[1]]]
        for layer in s.layers:
            xs.append(xs[-1] + layer(xs[-1]))
        return xs

    def forward(s, token_ids):
        return s.unembedding(s.streams(token_ids)[-1])


def all_attention_weights(model, token_ids):
    return torch.stack([a.attention_weights(x) for a, x in zip(model.layers, model.streams(token_ids))])


def next_token_loss(logits, token_ids):
    return -logits[:, :-1].log_softmax(-1).gather(-1, token_ids[:, 1:, None])[..., 0]


@torch.no_grad()
def generate(model, token_ids, max_new_tokens):
    for _ in range(max_new_tokens):
        token_ids = torch.cat([token_ids, model(token_ids[:, -model.layers[0].n :])[:, -1].argmax(-1)[:, None]], 1)
    return token_ids
