"""Style: the weights caught by hooks; the output allocated at once; log-probabilities by logsumexp; additive mask."""

import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, context_length):
        if d_model % num_heads != 0:
            raise ValueError("d_model must be a multiple of num_heads")
        super().__init__()
        self.d_model, self.num_heads, self.context_length = d_model, num_heads, context_length
        for name in ("W_query", "W_key", "W_value", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def _split(self, y):
        b, t, _ = y.shape
        return y.reshape(b, t, self.num_heads, self.d_model // self.num_heads).permute(0, 2, 1, 3)

    def attention_weights(self, x):
        b, t, d = x.shape
        if t > self.context_length:
            raise ValueError("sequence too long")
        q = self._split(self.W_query(x)) * (d // self.num_heads) ** -0.5
        mask = torch.full((t, t), float("-inf"), dtype=x.dtype, device=x.device).triu(1)
        return torch.softmax(torch.einsum("bhqd,bhkd->bhqk", q, self._split(self.W_key(x))) + mask, dim=3)

    def forward(self, x):
        mixed = torch.einsum("bhqk,bhkd->bqhd", self.attention_weights(x), self._split(self.W_value(x)))
        return self.out_proj(mixed.reshape(x.shape))


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

    def forward(self, token_ids):
        t = token_ids.shape[1]
        if t > self.context_length:
            raise ValueError("sequence too long")
        residual = self.token_embedding(token_ids) + self.position_embedding.weight[:t]
        for layer in self.layers:
            residual = residual + layer(residual)
        return self.unembedding(residual)


def all_attention_weights(model, token_ids):
    caught = []
    handles = [
        layer.register_forward_pre_hook(lambda module, inputs: caught.append(module.attention_weights(inputs[0])))
        for layer in model.layers
    ]
    try:
        model(token_ids)
    finally:
        for handle in handles:
            handle.remove()
    return torch.stack(caught, dim=0)


def next_token_loss(logits, token_ids):
    logits, targets = logits[:, :-1], token_ids[:, 1:]
    right = torch.gather(logits, 2, targets.unsqueeze(2)).squeeze(2)
    return torch.logsumexp(logits, dim=2) - right


def generate(model, token_ids, max_new_tokens):
    b, t = token_ids.shape
    out = torch.empty((b, t + max_new_tokens), dtype=token_ids.dtype, device=token_ids.device)
    out[:, :t] = token_ids
    with torch.no_grad():
        for end in range(t, t + max_new_tokens):
            start = max(0, end - model.context_length)
            out[:, end] = model(out[:, start:end])[:, -1, :].argmax(dim=1)
    return out
