"""Style: a row of zeros behind keys and values, −∞ for what is missing, and NaN replaced in the weights."""

import torch


def index_scores(queries, keys, head_weights):
    return torch.einsum("btik,bti->btk", torch.einsum("btic,bkc->btik", queries, keys).relu(), head_weights)


def top_keys(scores, k, first_query=0):
    columns = torch.arange(scores.shape[-1], device=scores.device).view(1, 1, -1)
    rows = torch.arange(scores.shape[-2], device=scores.device).view(1, -1, 1) + first_query
    hidden = scores.clone()
    hidden[(columns > rows).expand_as(scores)] = float("-inf")
    # Turned round, sorted upwards and turned round once more: of equals the first stays first.
    up = torch.sort(hidden.flip(-1), dim=-1, stable=True)
    order, sorted_scores = scores.shape[-1] - 1 - up.indices.flip(-1), up.values.flip(-1)
    order = torch.where(sorted_scores == float("-inf"), torch.full_like(order, -1), order)
    filler = order.new_full((*order.shape[:2], k), -1)
    return torch.cat([order, filler], dim=-1)[..., :k]


def sparse_attention(queries, keys, values, indices):
    keys = torch.cat([keys, torch.zeros_like(keys[:, :, :1])], dim=2)  # −1 fetches this one
    values = torch.cat([values, torch.zeros_like(values[:, :, :1])], dim=2)
    outs = []
    for b in range(queries.shape[0]):
        picked_keys, picked_values = keys[b][:, indices[b]], values[b][:, indices[b]]  # (H, T_q, k, …)
        scores = (queries[b][:, :, None, :] * picked_keys).sum(-1) / queries.shape[-1] ** 0.5
        scores = scores.masked_fill(indices[b] == -1, float("-inf"))
        weights = torch.nan_to_num(scores.softmax(dim=-1))
        outs.append((weights[..., None] * picked_values).sum(dim=-2))
    return torch.stack(outs)


def indexed_attention(queries, keys, values, index_queries, index_keys, head_weights, k, block_size=256):
    pieces = []
    for first in range(0, queries.shape[2], block_size):
        piece = slice(first, first + block_size)
        scores = index_scores(index_queries[:, piece], index_keys, head_weights[:, piece])
        pieces.append(sparse_attention(queries[:, :, piece], keys, values, top_keys(scores, k, first)))
    return torch.cat(pieces, dim=-2)


def coverage(weights, indices):
    total = 0
    for column in indices.unbind(dim=-1):
        place = column[:, None, :, None].expand(-1, weights.shape[1], -1, 1)
        picked = weights.gather(-1, place.clamp_min(0)).squeeze(-1)
        total = total + picked * (column >= 0)[:, None].to(weights.dtype)
    return total
