"""Exercise 27: linear attention and the gated delta rule. A state of fixed size takes the place of all past tokens."""

import torch
from torch.nn import functional as F


def feature_map(x: torch.Tensor) -> torch.Tensor:
    """φ(x) = elu(x) + 1, which is positive everywhere: eˣ below 0, and x + 1 from 0 upward.

    Args:
        x: any shape.

    Returns:
        the shape of x. The numbers and their gradients are finite for x from −10,000 to 10,000.
    """
    # Task 1: e to the power of x below 0, x + 1 above.
    return F.elu(x) + 1


def linear_attention(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Attention whose weights are φ(q) · φ(k) over their sum: every query sees every key.

    Args:
        queries: shape (B, H, T_q, h), without φ.
        keys: shape (B, H, T_k, h), without φ.
        values: shape (B, H, T_k, d_v).

    Returns:
        shape (B, H, T_q, d_v). No table of T_q × T_k is made.
    """
    # Task 2: which two factors may be multiplied first?
    queries, keys = feature_map(queries), feature_map(keys)
    sums = keys.mT @ values  # (B, H, h, d_v)
    normalizer = keys.sum(dim=-2)[..., None]  # (B, H, h, 1)
    return (queries @ sums) / (queries @ normalizer)  # (B, H, T_q, d_v)


def linear_step(
    state: tuple[torch.Tensor, torch.Tensor] | None, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """One token of causal linear attention: it joins the state, and then its query reads the state.

    Args:
        state: None before the first token; else a tuple (sums, normalizer) of shapes (B, H, h, d_v) and (B, H, h).
        query: shape (B, H, h), without φ.
        key: shape (B, H, h), without φ.
        value: shape (B, H, d_v).

    Returns:
        the output, shape (B, H, d_v), and the new state, a tuple as above.
    """
    # Task 3: add what the token brings, then read.
    query, key = feature_map(query), feature_map(key)
    sums = key[..., :, None] * value[..., None, :]  # (B, H, h, d_v)
    normalizer = key  # (B, H, h)
    if state is not None:
        sums, normalizer = state[0] + sums, state[1] + normalizer
    above = (query[..., :, None] * sums).sum(dim=-2)  # (B, H, d_v)
    below = (query * normalizer).sum(dim=-1, keepdim=True)  # (B, H, 1)
    return above / below, (sums, normalizer)


def causal_linear_attention(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, chunk_size: int = 64
) -> torch.Tensor:
    """Causal linear attention, chunk by chunk: what linear_step gives token by token.

    Args:
        queries: shape (B, H, T, h), without φ.
        keys: shape (B, H, T, h), without φ.
        values: shape (B, H, T, d_v).
        chunk_size: how many tokens are taken at once; at least 1, and it need not divide T.

    Returns:
        shape (B, H, T, d_v).
    """
    # Task 4: the state holds the chunks before; a small table holds the chunk itself.
    queries, keys = feature_map(queries), feature_map(keys)
    sums = keys.new_zeros(*keys.shape[:2], keys.shape[-1], values.shape[-1])  # (B, H, h, d_v)
    normalizer = keys.new_zeros(*keys.shape[:2], keys.shape[-1], 1)  # (B, H, h, 1)
    outputs = []
    for q, k, v in zip(*(x.split(chunk_size, dim=-2) for x in (queries, keys, values))):  # n tokens each
        weights = (q @ k.mT).tril()  # (B, H, n, n)
        above = q @ sums + weights @ v  # (B, H, n, d_v)
        below = q @ normalizer + weights.sum(dim=-1, keepdim=True)  # (B, H, n, 1)
        outputs.append(above / below)
        sums = sums + k.mT @ v
        normalizer = normalizer + k.sum(dim=-2)[..., None]
    return torch.cat(outputs, dim=-2)  # (B, H, T, d_v)


def gated_delta_step(
    state: torch.Tensor | None,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    log_decay: torch.Tensor,
    beta: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """One token of the gated delta rule: the state fades, is corrected at the key, and is read at the query.

    Args:
        state: None (zeros) before the first token; else shape (B, H, h, d_v).
        query: shape (B, H, h), taken as it is.
        key: shape (B, H, h), taken as it is.
        value: shape (B, H, d_v).
        log_decay: shape (B, H), 0 or less: the state is multiplied by e to this power.
        beta: shape (B, H), from 0 to 1: how much of the difference is corrected.

    Returns:
        the output, shape (B, H, d_v), and the new state, shape (B, H, h, d_v).
    """
    # Task 5: fade, compare, correct, read.
    if state is None:
        state = key.new_zeros(*key.shape, value.shape[-1])  # (B, H, h, d_v)
    state = log_decay.exp()[..., None, None] * state
    held = (key[..., :, None] * state).sum(dim=-2)  # (B, H, d_v)
    correction = beta[..., None] * (value - held)  # (B, H, d_v)
    state = state + key[..., :, None] * correction[..., None, :]
    output = (query[..., :, None] * state).sum(dim=-2) / key.shape[-1] ** 0.5  # (B, H, d_v)
    return output, state


def gated_delta_rule(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    log_decays: torch.Tensor,
    betas: torch.Tensor,
    chunk_size: int = 64,
    state: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gated delta rule, chunk by chunk: what gated_delta_step gives token by token.

    Args:
        queries: shape (B, H, T, h), taken as they are.
        keys: shape (B, H, T, h), taken as they are.
        values: shape (B, H, T, d_v).
        log_decays: shape (B, H, T), 0 or less.
        betas: shape (B, H, T), from 0 to 1.
        chunk_size: how many tokens are taken at once; at least 1, and it need not divide T.
        state: None (zeros), or shape (B, H, h, d_v): what the tokens before have left.

    Returns:
        the outputs, shape (B, H, T, d_v), and the last state, shape (B, H, h, d_v).
    """
    # Task 6: all corrections of a chunk at once, from a triangular system.
    dtype, h = values.dtype, keys.shape[-1]
    if state is None:
        state = keys.new_zeros(*keys.shape[:2], h, values.shape[-1])  # (B, H, h, d_v)
    wide = torch.promote_types(dtype, torch.float32)  # no half types in solve_triangular
    inputs = [x.to(wide) for x in (queries, keys, values, log_decays[..., None], betas[..., None])]
    state, outputs = state.to(wide), []
    for q, k, v, log_decay, beta in zip(*(x.split(chunk_size, dim=-2) for x in inputs)):  # n tokens each
        total = log_decay.cumsum(dim=-2)  # (B, H, n, 1)
        future = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool, device=q.device).triu(1)  # (n, n)
        decay = (total - total.mT).masked_fill(future, -torch.inf).exp()  # (B, H, n, n)
        held = (k * total.exp()) @ state  # (B, H, n, d_v)
        system = beta * (k @ k.mT) * decay  # (B, H, n, n); its diagonal is taken as 1
        corrections = torch.linalg.solve_triangular(system, beta * (v - held), upper=False, unitriangular=True)
        outputs.append(((q * total.exp()) @ state + (q @ k.mT * decay) @ corrections) / h**0.5)  # (B, H, n, d_v)
        last = total[..., -1:, :]  # (B, H, 1, 1)
        state = last.exp() * state + (k * (last - total).exp()).mT @ corrections  # (B, H, h, d_v)
    return torch.cat(outputs, dim=-2).to(dtype), state.to(dtype)
