"""Rows of a chunk one after the other, for all chunks at once; chunks are then joined by a small loop."""

import torch
from torch.nn.functional import elu, pad


def feature_map(x):
    return elu(x, alpha=1.0) + 1


def linear_attention(queries, keys, values):
    k = feature_map(keys)
    q = feature_map(queries)
    q = q / (q @ k.sum(dim=2, keepdim=True).transpose(-1, -2))  # the weights' sum goes into the queries
    return q @ (k.transpose(-1, -2) @ values)


def linear_step(state, query, key, value):
    key = feature_map(key)
    query = feature_map(query)
    outer = key.unsqueeze(3) * value.unsqueeze(2)
    if state is None:
        new_state = (outer, key.clone())
    else:
        new_state = (outer + state[0], key + state[1])
    weight = (query * new_state[1]).sum(-1)
    read = (query.unsqueeze(2) @ new_state[0]).squeeze(2)
    return read / weight.unsqueeze(-1), new_state


def causal_linear_attention(queries, keys, values, chunk_size=64):
    q, k = feature_map(queries), feature_map(keys)
    T = q.shape[2]
    chunk_size = min(chunk_size, T)
    S = torch.zeros(q.shape[0], q.shape[1], q.shape[3], values.shape[3], dtype=q.dtype, device=q.device)
    z = torch.zeros(q.shape[0], q.shape[1], q.shape[3], dtype=q.dtype, device=q.device)
    pieces = []
    for i in range((T + chunk_size - 1) // chunk_size):
        a, b = i * chunk_size, min((i + 1) * chunk_size, T)
        qi, ki, vi = q[:, :, a:b], k[:, :, a:b], values[:, :, a:b]
        mask = torch.tril(torch.ones(b - a, b - a, dtype=torch.bool, device=q.device))
        w = (qi @ ki.transpose(-1, -2)).masked_fill(~mask, 0.0)
        running = z.unsqueeze(2) + ki.cumsum(dim=2)  # the normalizer of each token
        pieces.append((w @ vi + qi @ S) / (qi * running).sum(-1, keepdim=True))
        S = S + ki.transpose(-1, -2) @ vi
        z = z + ki.sum(2)
    return torch.cat(pieces, dim=2)


def gated_delta_step(state, query, key, value, log_decay, beta):
    k = key.unsqueeze(-1)
    if state is None:
        state = k.new_zeros(*key.shape, value.size(-1))
    state = state * torch.exp(log_decay).unsqueeze(-1).unsqueeze(-1)
    difference = value.unsqueeze(-2) - (state * k).sum(-2, keepdim=True)
    state = state + beta.unsqueeze(-1).unsqueeze(-1) * difference * k
    return (state * (query / query.size(-1) ** 0.5).unsqueeze(-1)).sum(-2), state


def gated_delta_rule(queries, keys, values, log_decays, betas, chunk_size=64, state=None):
    dtype, (B, H, T, h), d_v = values.dtype, keys.shape, values.shape[-1]
    if dtype != torch.float64:
        queries, keys, values, log_decays, betas = (t.float() for t in (queries, keys, values, log_decays, betas))
    n = chunk_size
    extra = -T % n

    def chunks(t):
        t = pad(t.unsqueeze(-1) if t.ndim == 3 else t, (0, 0, 0, extra))
        return t.reshape(B, H, (T + extra) // n, n, t.shape[-1])

    q, k, v, g, b = map(chunks, (queries, keys, values, log_decays, betas))
    total = g.cumsum(3)
    gaps = total - total.transpose(3, 4)
    above = torch.triu(torch.ones_like(gaps), 1).bool()
    decay = gaps.masked_fill(above, -1e30).exp()
    overlap = (k @ k.transpose(3, 4)) * decay * b
    right = torch.cat([b * v, b * k * total.exp()], dim=-1)  # values, and what the state before will be asked for
    rows = [right[..., 0, :]]
    for i in range(1, n):
        done = torch.stack(rows, dim=-2)
        rows.append(right[..., i, :] - (overlap[..., i, None, :i] @ done)[..., 0, :])
    solved = torch.stack(rows, dim=-2)
    u, w = solved.split([d_v, h], dim=-1)
    S = torch.zeros(B, H, h, d_v, dtype=q.dtype, device=q.device) if state is None else state.to(q.dtype)
    outputs = []
    for c in range(q.shape[2]):
        fresh = u[:, :, c] - w[:, :, c] @ S
        within = (q[:, :, c] @ k[:, :, c].transpose(2, 3)) * decay[:, :, c]
        outputs.append(total[:, :, c].exp() * (q[:, :, c] @ S) + within @ fresh)
        end = total[:, :, c, -1:]
        S = end.exp() * S + ((end - total[:, :, c]).exp() * k[:, :, c]).transpose(2, 3) @ fresh
    out = torch.stack(outputs, 2).reshape(B, H, T + extra, d_v)[:, :, :T] / h**0.5
    return out.to(dtype), S.to(dtype)
