"""Style: selection by the k-th largest score and a count of its equals; gather; an own softmax."""

import torch


def index_scores(queries, keys, head_weights):
    products = queries @ keys[:, None].mT  # (B, T_q, I, T_k)
    return (head_weights[..., None] * torch.where(products > 0, products, 0.0)).sum(dim=2)


def top_keys(scores, k, first_query=0):
    B, T_q, T_k = scores.shape
    place = torch.arange(T_k, device=scores.device)
    visible = place <= torch.arange(first_query, first_query + T_q, device=scores.device)[:, None]
    hidden = torch.where(visible, scores, float("-inf"))
    n = min(k, T_k)
    limit = hidden.topk(n).values[..., -1:]
    above, equal = hidden > limit, hidden == limit
    room = n - above.sum(dim=-1, keepdim=True)
    taken = above | (equal & (equal.cumsum(dim=-1) <= room))
    # The positions of what is taken, from the left; then by score, with equals as they are.
    left = torch.where(taken, place, T_k).sort(dim=-1).values[..., :n]
    order = hidden.gather(-1, left.clamp(max=T_k - 1)).sort(dim=-1, descending=True, stable=True).indices
    best = left.gather(-1, order)
    out = torch.full((B, T_q, k), -1, dtype=torch.int64, device=scores.device)
    out[..., :n] = torch.where(visible.expand(B, -1, -1).gather(-1, best), best, -1)
    return out


def sparse_attention(queries, keys, values, indices):
    B, H, T, h = queries.shape
    k, there = indices.shape[-1], (indices >= 0).unsqueeze(1)
    safe = torch.where(indices < 0, 0, indices).reshape(B, 1, T * k, 1)
    picked = keys.gather(2, safe.expand(B, H, T * k, h)).view(B, H, T, k, h)
    scores = (picked @ queries.unsqueeze(-1)).squeeze(-1) * h**-0.5
    most = scores.masked_fill(~there, -1e30).amax(dim=-1, keepdim=True).detach()
    powers = torch.exp((scores - most).masked_fill(~there, -torch.inf))
    weights = powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-9)
    picked = values.gather(2, safe.expand(B, H, T * k, values.shape[-1])).view(B, H, T, k, -1)
    return (weights.unsqueeze(-2) @ picked).squeeze(-2)


@torch.no_grad()
def choose(index_queries, index_keys, head_weights, k, start):
    return top_keys(index_scores(index_queries, index_keys, head_weights), k, start)


def indexed_attention(queries, keys, values, index_queries, index_keys, head_weights, k, block_size=256):
    out, start = [], 0
    blocks = (queries.split(block_size, 2), index_queries.split(block_size, 1), head_weights.split(block_size, 1))
    for q, iq, w in zip(*blocks, strict=True):
        out.append(sparse_attention(q, keys, values, choose(iq, index_keys, w, k, start)))
        start += q.shape[2]
    return torch.cat(out, 2)


def coverage(weights, indices):
    places = indices.unsqueeze(1).expand(-1, weights.shape[1], -1, -1)
    return torch.where(places < 0, 0.0, weights.gather(-1, places.clamp(min=0))).sum(-1)
