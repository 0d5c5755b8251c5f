"""Style: loops. One small head, one row, one head after the other."""

import math

import torch


def index_scores(queries, keys, head_weights):
    total = 0
    for head in range(queries.size(2)):
        products = queries[:, :, head] @ keys.transpose(1, 2)
        total = total + head_weights[:, :, head].unsqueeze(-1) * products.clamp(min=0)
    return total


def top_keys(scores, k, first_query=0):
    rows = []
    for r in range(scores.size(1)):
        visible = scores[:, r, : first_query + r + 1]
        best = torch.argsort(-visible, dim=-1, stable=True)[:, :k]
        missing = best.new_full((best.size(0), k - best.size(1)), -1)
        rows.append(torch.cat([best, missing], dim=1))
    return torch.stack(rows, dim=1)


def sparse_attention(queries, keys, values, indices):
    there = indices != -1
    safe = indices * there
    out = queries.new_empty(*queries.shape[:3], values.size(-1))
    for b in range(queries.size(0)):
        for head in range(queries.size(1)):
            scores = (keys[b, head][safe[b]] @ queries[b, head].unsqueeze(-1)).squeeze(-1) / math.sqrt(keys.size(-1))
            scores[~there[b]] = -1e38
            weights = scores.softmax(dim=-1) * there[b]
            out[b, head] = (weights[:, :, None] * values[b, head][safe[b]]).sum(dim=1)
    return out


def indexed_attention(queries, keys, values, index_queries, index_keys, head_weights, k, block_size=256):
    out = torch.zeros(*queries.shape[:3], values.size(-1), dtype=queries.dtype)
    for start in range(0, queries.size(2), block_size):
        end = start + block_size
        scores = index_scores(index_queries[:, start:end], index_keys, head_weights[:, start:end]).detach()
        indices = top_keys(scores, k, start)
        out[:, :, start:end] = sparse_attention(queries[:, :, start:end], keys, values, indices)
    return out


def coverage(weights, indices):
    B, H, T, _ = weights.shape
    out = []
    for b in range(B):
        for t in range(T):
            chosen = [i for i in indices[b, t].tolist() if i != -1]
            out.append(weights[b, :, t, chosen].sum(dim=-1))
    return torch.stack(out).view(B, T, H).transpose(1, 2)
