"""Loops with places; the state grows a column for the normalizer; the last row of the decays serves the new state."""

import torch


def feature_map(x):
    return torch.nn.functional.relu(x) + torch.exp(-torch.nn.functional.relu(-x))


def with_ones(values):
    return torch.cat((values, values.new_ones(values.shape[:-1] + (1,))), dim=-1)


def linear_attention(queries, keys, values):
    read = feature_map(queries) @ (feature_map(keys).swapaxes(-1, -2) @ with_ones(values))
    return read[..., :-1] / read[..., -1:]


def linear_step(state, query, key, value):
    column = feature_map(key)[..., None]
    row = with_ones(value)[..., None, :]
    whole = column @ row
    if state is not None:
        whole = whole + torch.cat((state[0], state[1][..., None]), dim=-1)
    read = (feature_map(query)[..., None, :] @ whole)[..., 0, :]
    return read[..., :-1] / read[..., -1:], (whole[..., :-1], whole[..., -1])


def causal_linear_attention(queries, keys, values, chunk_size=64):
    q, k, v = feature_map(queries), feature_map(keys), with_ones(values)
    state, outputs, start = 0, [], 0
    while start < q.shape[-2]:
        end = start + chunk_size
        a, b, c = q[..., start:end, :], k[..., start:end, :], v[..., start:end, :]
        read = (a @ b.mT).tril() @ c
        if start:
            read = read + a @ state
        outputs.append(read[..., :-1] / read[..., -1:])
        state = state + b.mT @ c
        start = end
    return torch.cat(outputs, -2)


def gated_delta_step(state, query, key, value, log_decay, beta):
    out, state = gated_delta_rule(
        query[:, :, None], key[:, :, None], value[:, :, None], log_decay[..., None], beta[..., None], 1, state
    )
    return out[:, :, 0], state


def gated_delta_rule(queries, keys, values, log_decays, betas, chunk_size=64, state=None):
    dtype = queries.dtype
    work = torch.float64  # one road for all dtypes
    queries, keys, values, log_decays, betas = (x.to(work) for x in (queries, keys, values, log_decays, betas))
    B, H, T, h = keys.shape
    S = torch.zeros((B, H, h, values.shape[-1]), dtype=work, device=keys.device)
    if state is not None:
        S = S + state
    outputs = torch.zeros_like(values)
    for start in range(0, T, chunk_size):
        end = min(T, start + chunk_size)
        q, k, v = (x[:, :, start:end] for x in (queries, keys, values))
        G = log_decays[:, :, start:end].cumsum(-1)
        b = betas[:, :, start:end, None]
        i = torch.arange(end - start, device=keys.device)
        seen = i[:, None] >= i
        D = torch.where(
            seen, G[..., :, None] - G[..., None, :], torch.tensor(-1e9, dtype=work, device=keys.device)
        ).exp()
        M = torch.where(i[:, None] > i, b * (k @ k.mT) * D, torch.zeros_like(D)) + torch.diag(torch.ones_like(G[0, 0]))
        U = torch.linalg.solve_triangular(M, b * (v - G[..., None].exp() * (k @ S)), upper=False)
        outputs[:, :, start:end] = (G[..., None].exp() * (q @ S) + ((q @ k.mT) * D) @ U) / h**0.5
        S = G[..., -1:, None].exp() * S + (k * D[..., -1, :, None]).mT @ U
    return outputs.to(dtype), S.to(dtype)
