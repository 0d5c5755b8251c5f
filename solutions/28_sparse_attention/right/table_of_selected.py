"""Style: a mask of what is selected for coverage, logsumexp for the softmax, and sorting by two keys."""

import torch


def index_scores(queries, keys, head_weights):
    per_head = queries.transpose(1, 2) @ keys.unsqueeze(1).transpose(-1, -2)  # (B, I, T_q, T_k)
    return (per_head.clamp_min(0) * head_weights.transpose(1, 2)[..., None]).sum(1)


def top_keys(scores, k, first_query=0):
    B, T_q, T_k = scores.shape
    count = (torch.arange(T_q, device=scores.device) + first_query + 1).clamp(max=T_k)
    mask = torch.arange(T_k, device=scores.device) >= count[:, None]
    lowest = torch.finfo(scores.dtype).min
    order = torch.argsort(scores.masked_fill(mask, lowest), dim=-1, descending=True, stable=True)
    if k > T_k:
        order = torch.cat([order, torch.zeros(B, T_q, k - T_k, dtype=torch.long, device=order.device)], dim=-1)
    missing = torch.arange(k, device=scores.device) >= count[:, None]
    return order[:, :, :k].masked_fill(missing, -1)


def sparse_attention(queries, keys, values, indices):
    B = torch.arange(queries.shape[0]).view(-1, 1, 1, 1)
    H = torch.arange(queries.shape[1]).view(1, -1, 1, 1)
    at = indices[:, None]
    missing = at.eq(-1)
    at = at.where(~missing, torch.zeros_like(at))
    scores = torch.einsum("bhtc,bhtkc->bhtk", queries * queries.shape[-1] ** -0.5, keys[B, H, at])
    scores = scores.masked_fill(missing, -1e9)
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp() * ~missing
    return torch.einsum("bhtk,bhtkc->bhtc", weights, values[B, H, at])


def indexed_attention(queries, keys, values, index_queries, index_keys, head_weights, k, block_size=256):
    T = queries.shape[2]
    k = min(k, T)
    out = []
    for a in range(0, T, block_size):
        z = min(a + block_size, T)
        with torch.inference_mode():
            found = top_keys(index_scores(index_queries[:, a:z], index_keys[:, :z], head_weights[:, a:z]), k, a)
        out.append(sparse_attention(queries[:, :, a:z], keys[:, :, :z], values[:, :, :z], found.clone()))
    return torch.cat(out, dim=2)


def coverage(weights, indices):
    selected = torch.zeros(*indices.shape[:2], weights.shape[-1] + 1, dtype=torch.bool, device=weights.device)
    selected.scatter_(-1, torch.where(indices < 0, weights.shape[-1], indices), True)
    return (weights * selected[:, None, :, :-1]).sum(dim=-1)
