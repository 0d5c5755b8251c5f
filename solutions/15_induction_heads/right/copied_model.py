"""Style: a copy of the model with one block of out_proj set to 0; index tensors; a loop to find the best"""

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


def repeated_tokens(batch, period, vocab_size, generator=None):
    first = torch.randint(low=0, high=vocab_size, size=(batch, period), generator=generator)
    return torch.hstack((first, first.clone()))


def previous_token_score(weights):
    t = torch.arange(1, weights.shape[-1], device=weights.device)
    return weights[..., t, t - 1].mean(dim=-1)


def induction_score(weights, period):
    t = torch.arange(period, 2 * period, device=weights.device)
    return weights[..., t, t - period + 1].mean(dim=-1)


def second_half_loss(model, token_ids):
    logits = model(token_ids)
    period = token_ids.shape[1] // 2
    return nn.functional.cross_entropy(logits[:, period:-1].flatten(0, 1), token_ids[:, period + 1 :].flatten())


def without_head(model, token_ids, layer, head):
    import copy

    other = copy.deepcopy(model)
    d_head = other.layers[layer].d_head
    with torch.no_grad():
        other.layers[layer].out_proj.weight[:, head * d_head : (head + 1) * d_head] = 0.0
    return other(token_ids)


def find_induction_head(model, token_ids):
    weights = all_attention_weights(model, token_ids)
    best, place = -1.0, (0, 0)
    for layer, of_layer in enumerate(weights):
        for head in range(of_layer.shape[1]):
            score = induction_score(of_layer[:, head], token_ids.shape[1] // 2).mean().item()
            if score > best:
                best, place = score, (layer, head)
    return place
