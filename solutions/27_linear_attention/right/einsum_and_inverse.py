"""Everything as einsum; the inverse of the system itself; decays from sums between two places."""

import math

import torch


def feature_map(x):
    return torch.where(x > 0, x + 1, torch.exp(torch.minimum(x, torch.zeros_like(x))))


def linear_attention(queries, keys, values):
    queries, keys = feature_map(queries), feature_map(keys)
    state = torch.einsum("bhsi,bhsj->bhij", keys, values)
    below = torch.einsum("bhti,bhi->bht", queries, keys.sum(2))
    return torch.einsum("bhti,bhij->bhtj", queries, state) / below[..., None]


def linear_step(state, query, key, value):
    sums, normalizer = state if state is not None else (0, 0)
    key, query = feature_map(key), feature_map(query)
    sums = sums + torch.einsum("bhi,bhj->bhij", key, value)
    normalizer = normalizer + key
    return torch.einsum("bhi,bhij->bhj", query, sums) / (query * normalizer).sum(-1)[..., None], (sums, normalizer)


def causal_linear_attention(queries, keys, values, chunk_size=64):
    queries, keys = feature_map(queries), feature_map(keys)
    result = torch.empty_like(values)
    sums = normalizer = None
    for start in range(0, queries.shape[2], chunk_size):
        here = slice(start, start + chunk_size)
        q, k, v = queries[:, :, here], keys[:, :, here], values[:, :, here]
        scores = torch.einsum("bhti,bhsi->bhts", q, k)
        places = torch.arange(q.shape[2], device=q.device)
        scores = torch.where(places[:, None] >= places, scores, torch.zeros_like(scores))
        above, below = torch.einsum("bhts,bhsj->bhtj", scores, v), scores.sum(-1)
        if sums is not None:
            above = above + torch.einsum("bhti,bhij->bhtj", q, sums)
            below = below + torch.einsum("bhti,bhi->bht", q, normalizer)
        result[:, :, here] = above / below[..., None]
        new = torch.einsum("bhsi,bhsj->bhij", k, v)
        sums, normalizer = (new, k.sum(2)) if sums is None else (sums + new, normalizer + k.sum(2))
    return result


def gated_delta_step(state, query, key, value, log_decay, beta):
    faded = 0 * torch.einsum("bhi,bhj->bhij", key, value) if state is None else state
    faded = torch.einsum("bh,bhij->bhij", torch.exp(log_decay), faded)
    identity = torch.eye(key.shape[-1], dtype=key.dtype, device=key.device)
    erase = identity - torch.einsum("bh,bhi,bhj->bhij", beta, key, key)
    state = torch.einsum("bhij,bhjk->bhik", erase, faded) + torch.einsum("bh,bhi,bhj->bhij", beta, key, value)
    return torch.einsum("bhi,bhij->bhj", query, state) / math.sqrt(key.shape[-1]), state


def gated_delta_rule(queries, keys, values, log_decays, betas, chunk_size=64, state=None):
    original = values.dtype
    if original in (torch.float16, torch.bfloat16):
        queries, keys, values, log_decays, betas = (x.float() for x in (queries, keys, values, log_decays, betas))
        state = None if state is None else state.float()
    if state is None:
        state = torch.zeros(*keys.shape[:2], keys.shape[-1], values.shape[-1], dtype=keys.dtype, device=keys.device)
    scale, outputs = 1 / math.sqrt(keys.shape[-1]), []
    for start in range(0, keys.shape[2], chunk_size):
        q, k, v, g, b = (x[:, :, start : start + chunk_size] for x in (queries, keys, values, log_decays, betas))
        n = q.shape[2]
        lower = torch.ones(n, n, dtype=torch.bool, device=q.device).tril()
        # The sum of the decays after j up to i, from the single numbers and not from a difference.
        repeated = g[..., None].expand(*g.shape, n).masked_fill(~lower.tril(-1), 0).cumsum(-2)
        decay = repeated.masked_fill(~lower, -torch.inf).exp()
        since = g.cumsum(-1).exp()
        overlap = torch.einsum("bhti,bhsi->bhts", k, k)
        system = torch.eye(n, dtype=q.dtype, device=q.device) + (b[..., None] * overlap * decay).tril(-1)
        inverse = torch.linalg.inv(system)
        wrong = b[..., None] * (v - since[..., None] * torch.einsum("bhti,bhij->bhtj", k, state))
        u = torch.einsum("bhts,bhsj->bhtj", inverse, wrong)
        reads = torch.einsum("bhti,bhsi->bhts", q, k) * decay
        old = since[..., None] * torch.einsum("bhti,bhij->bhtj", q, state)
        outputs.append(scale * (old + torch.einsum("bhts,bhsj->bhtj", reads, u)))
        state = since[..., -1, None, None] * state + torch.einsum("bhs,bhsi,bhsj->bhij", decay[..., -1, :], k, u)
    return torch.cat(outputs, 2).to(original), state.to(original)
