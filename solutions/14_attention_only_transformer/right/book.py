"""Style: classes with full names, one buffer for the mask that is not saved, einsum, a helper for the residual."""

import torch
from torch import einsum, nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, context_length):
        super().__init__()
        if d_model % num_heads > 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.context_length = context_length
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool(), persistent=False)

    def attention_weights(self, x):
        batch_size, num_tokens, d_model = x.shape
        if num_tokens > self.context_length:
            raise ValueError(f"got {num_tokens} tokens, at most {self.context_length}")
        queries = self.W_query(x).view(batch_size, num_tokens, self.num_heads, self.d_head)
        keys = self.W_key(x).view(batch_size, num_tokens, self.num_heads, self.d_head)
        attn_scores = einsum("b i h d, b j h d -> b h i j", queries, keys)
        attn_scores = attn_scores.masked_fill(self.mask[:num_tokens, :num_tokens], -torch.inf)
        return torch.softmax(attn_scores / self.d_head**0.5, dim=-1)

    def forward(self, x):
        batch_size, num_tokens, d_model = x.shape
        attn_weights = self.attention_weights(x)
        values = self.W_value(x).view(batch_size, num_tokens, self.num_heads, self.d_head).transpose(1, 2)
        context_vec = (attn_weights @ values).transpose(1, 2).contiguous().view(batch_size, num_tokens, d_model)
        return self.out_proj(context_vec)


class AttentionOnlyTransformer(nn.Module):
    def __init__(self, vocab_size, d_model, context_length, num_layers, num_heads):
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        self.layers = nn.ModuleList(
            [CausalSelfAttention(d_model, num_heads, context_length) for i in range(num_layers)]
        )
        self.unembedding = nn.Linear(d_model, vocab_size, bias=False)

    def residual_streams(self, token_ids):
        batch_size, num_tokens = token_ids.shape
        if num_tokens > self.context_length:
            raise ValueError(f"got {num_tokens} tokens, at most {self.context_length}")
        stream = self.token_embedding(token_ids)
        stream = stream + self.position_embedding(torch.arange(num_tokens, device=token_ids.device))
        yield stream
        for layer in self.layers:
            stream = stream + layer(stream)
            yield stream

    def forward(self, token_ids):
        *_, last = self.residual_streams(token_ids)
        return self.unembedding(last)


def all_attention_weights(model, token_ids):
    pairs = zip(model.layers, model.residual_streams(token_ids))
    return torch.cat([layer.attention_weights(stream).unsqueeze(0) for layer, stream in pairs])


def next_token_loss(logits, token_ids):
    criterion = nn.CrossEntropyLoss(reduction="none")
    return criterion(logits[:, :-1, :].permute(0, 2, 1), token_ids[:, 1:])


def generate(model, token_ids, max_new_tokens):
    for _ in range(max_new_tokens):
        context = token_ids[:, -model.context_length :]
        with torch.no_grad():
            logits = model(context)
        probabilities = torch.softmax(logits[:, -1, :], dim=-1)
        next_id = torch.argmax(probabilities, dim=-1, keepdim=True)
        token_ids = torch.cat((token_ids, next_id), dim=1)
    return token_ids
