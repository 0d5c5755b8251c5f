"""Style: the book's names and order: mask_simple times weights, row_sums, triu of ones with .bool(), keys' size."""

import torch


def causal_mask(T):
    context_length = T
    mask_simple = torch.tril(torch.ones(context_length, context_length))
    return mask_simple.bool()


def mask_then_renormalize(weights):
    context_length = weights.shape[-1]
    mask_simple = torch.tril(torch.ones(context_length, context_length)).to(weights)
    masked_simple = weights * mask_simple
    row_sums = masked_simple.sum(dim=-1, keepdim=True)
    masked_simple_norm = masked_simple / row_sums
    return masked_simple_norm


def mask_scores(scores):
    context_length = scores.shape[-1]
    mask = torch.triu(torch.ones(context_length, context_length), diagonal=1).to(scores.device)
    masked = scores.masked_fill(mask.bool(), -torch.inf)
    return masked


def causal_attention_weights(scores, d_k):
    masked = mask_scores(scores)
    attn_weights = torch.softmax(masked / d_k**0.5, dim=-1)
    return attn_weights
