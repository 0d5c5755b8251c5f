"""Style: k times the largest of what is left; flattened rows; ready-made attention with one query each."""

import torch
import torch.nn.functional as F


def index_scores(queries, keys, head_weights):
    B, T_q, I, c = queries.shape
    products = torch.bmm(queries.reshape(B, T_q * I, c), keys.transpose(1, 2)).view(B, T_q, I, -1)
    return torch.matmul(head_weights.unsqueeze(2), F.relu(products)).squeeze(2)


def top_keys(scores, k, first_query=0):
    T_q, T_k = scores.shape[1:]
    future = torch.ones(T_q, T_k, dtype=torch.bool, device=scores.device).triu(first_query + 1)
    left = scores.masked_fill(future, float("-inf"))
    columns = []
    for _ in range(min(k, T_k)):
        best = left.argmax(dim=-1, keepdim=True)  # of equals the first
        nothing = left.gather(-1, best) == float("-inf")
        columns.append(best.masked_fill(nothing, -1))
        left = left.scatter(-1, best, float("-inf"))
    return F.pad(torch.cat(columns, dim=-1), (0, max(0, k - T_k)), value=-1)


def rows_of(table, indices):
    """(B, H, T_k, n) and (B, T_q, k) to (B · T_q, H, k, n)."""
    B, H, T_k, n = table.shape
    flat = table.transpose(1, 2).reshape(B * T_k, H, n)
    offset = torch.arange(B)[:, None, None] * T_k
    picked = flat.index_select(0, (indices.clamp(0) + offset).flatten())
    return picked.view(-1, indices.shape[-1], H, n).transpose(1, 2)


def sparse_attention(queries, keys, values, indices):
    B, H, T, h = queries.shape
    there = (indices >= 0).reshape(B * T, 1, 1, -1)
    empty = ~there.any(dim=-1, keepdim=True)
    q = queries.transpose(1, 2).reshape(B * T, H, 1, h)
    out = F.scaled_dot_product_attention(q, rows_of(keys, indices), rows_of(values, indices), attn_mask=there | empty)
    return out.masked_fill(empty, 0).view(B, T, H, -1).transpose(1, 2)


def indexed_attention(queries, keys, values, index_queries, index_keys, head_weights, k, block_size=256):
    T = queries.shape[2]
    result = []
    for i in range((T + block_size - 1) // block_size):
        rows = torch.arange(i * block_size, min(T, (i + 1) * block_size))
        seen = int(rows[-1]) + 1
        scores = index_scores(index_queries[:, rows], index_keys[:, :seen], head_weights[:, rows])
        indices = top_keys(scores.detach(), min(k, seen), first_query=int(rows[0]))
        result.append(sparse_attention(queries[:, :, rows], keys[:, :, :seen], values[:, :, :seen], indices))
    return torch.cat(result, dim=2)


def coverage(weights, indices):
    padded = F.pad(weights, (1, 0))  # a key of weight 0 in front, where −1 points
    return padded.gather(-1, (indices + 1).unsqueeze(1).expand(-1, weights.size(1), -1, -1)).sum(dim=-1)
