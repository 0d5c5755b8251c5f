"""Pads to whole chunks and makes the tables of all chunks at once; the rows of the inverse come by substitution."""

import torch
import torch.nn.functional as F


def feature_map(x):
    return F.elu(x) + 1.0


def linear_attention(queries, keys, values):
    q, k = feature_map(queries), feature_map(keys)
    values = torch.cat([values, torch.ones_like(values[..., :1])], dim=-1)  # the last column is the normalizer
    mixed = q @ (k.transpose(-2, -1) @ values)
    return mixed[..., :-1] / mixed[..., -1:]


def linear_step(state, query, key, value):
    q, k = feature_map(query), feature_map(key)
    if state is None:
        state = (k.new_zeros(k.shape + value.shape[-1:]), torch.zeros_like(k))
    sums, normalizer = state
    sums = sums + torch.einsum("bhi,bhj->bhij", k, value)
    normalizer = normalizer + k
    output = torch.einsum("bhi,bhij->bhj", q, sums) / torch.einsum("bhi,bhi->bh", q, normalizer).unsqueeze(-1)
    return output, (sums, normalizer)


def cut(x, size):
    """(B, H, T, …) → (B, H, chunks, size, …), padded with zeros at the end."""
    missing = -x.shape[2] % size
    x = F.pad(x, [0, 0] * (x.ndim - 3) + [0, missing])
    return x.unflatten(2, (-1, size))


def causal_linear_attention(queries, keys, values, chunk_size=64):
    T = queries.shape[2]
    values = torch.cat([values, torch.ones_like(values[..., :1])], dim=-1)
    q, k, v = (cut(x, chunk_size) for x in (feature_map(queries), feature_map(keys), values))
    each = k.mT @ v  # (B, H, chunks, h, d_v + 1)
    before = each.cumsum(dim=2) - each  # one state for each chunk
    mixed = q @ before + (q @ k.mT).tril() @ v
    mixed = mixed.flatten(2, 3)[:, :, :T]
    return mixed[..., :-1] / mixed[..., -1:]


def gated_delta_step(state, query, key, value, log_decay, beta):
    B, H, h = key.shape
    if state is None:
        state = torch.zeros(B, H, h, value.shape[-1], dtype=value.dtype, device=value.device)
    state = (
        state * log_decay.exp().view(B, H, 1, 1)
        if log_decay.is_contiguous()
        else state * log_decay.exp()[..., None, None]
    )
    wrong = value - torch.einsum("bhi,bhij->bhj", key, state)
    state = state + torch.einsum("bh,bhi,bhj->bhij", beta, key, wrong)
    return torch.einsum("bhi,bhij->bhj", query, state) * h**-0.5, state


def gated_delta_rule(queries, keys, values, log_decays, betas, chunk_size=64, state=None):
    dtype, T, h = values.dtype, keys.shape[2], keys.shape[-1]
    work = torch.float64 if dtype == torch.float64 else torch.float32
    q, k, v, g, beta = (cut(x.to(work), chunk_size) for x in (queries, keys, values, log_decays, betas))
    q = q * h**-0.5
    G = g.cumsum(-1)  # (B, H, chunks, size)
    above = torch.ones(chunk_size, chunk_size, dtype=torch.bool, device=q.device).triu(1)
    D = (G[..., :, None] - G[..., None, :]).masked_fill(above, float("-inf")).exp()
    kb, vb = k * beta[..., None], v * beta[..., None]
    A = -(kb @ k.mT * D).tril(-1)
    for i in range(1, chunk_size):
        row = A[..., i, :i].clone()
        A[..., i, :i] = row + (row[..., None] * A[..., :i, :i].clone()).sum(-2)
    A = A + torch.eye(chunk_size, dtype=work, device=q.device)
    U, W = A @ vb, A @ (kb * G.exp()[..., None])
    if state is None:
        state = torch.zeros(*q.shape[:2], h, v.shape[-1], dtype=work, device=q.device)
    state, outputs = state.to(work), []
    for i in range(q.shape[2]):
        new = U[:, :, i] - W[:, :, i] @ state
        outputs.append(
            (q[:, :, i] * G[:, :, i].exp()[..., None]) @ state + (q[:, :, i] @ k[:, :, i].mT * D[:, :, i]) @ new
        )
        last = G[:, :, i, -1:]
        state = state * last.exp()[..., None] + (k[:, :, i] * (last - G[:, :, i]).exp()[..., None]).mT @ new
    return torch.cat(outputs, dim=2)[:, :, :T].to(dtype), state.to(dtype)
