"""The state as a NamedTuple, the chunked rules on top of it, and a general solver."""

from typing import NamedTuple

import torch
from torch import Tensor, nn


class State(NamedTuple):
    sums: Tensor
    normalizer: Tensor


def feature_map(x: Tensor) -> Tensor:
    return nn.ELU()(x) + 1


def linear_attention(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    phi_q, phi_k = map(feature_map, (queries, keys))
    memory = torch.matmul(phi_k.transpose(2, 3), values)
    total = phi_k.sum(2, keepdim=True)
    return torch.matmul(phi_q, memory) / (phi_q * total).sum(3, keepdim=True)


def linear_step(state, query: Tensor, key: Tensor, value: Tensor):
    phi_q, phi_k = map(feature_map, (query, key))
    update = State(phi_k.unsqueeze(-1) @ value.unsqueeze(-2), phi_k)
    new = update if state is None else State(*(old + more for old, more in zip(state, update)))
    above = (phi_q.unsqueeze(-2) @ new.sums).squeeze(-2)
    return above / torch.sum(phi_q * new.normalizer, -1, keepdim=True), new


def causal_linear_attention(queries: Tensor, keys: Tensor, values: Tensor, chunk_size: int = 64) -> Tensor:
    phi_q, phi_k = map(feature_map, (queries, keys))
    state, outputs = None, []
    for start in range(0, values.size(2), chunk_size):
        part = (..., slice(start, min(start + chunk_size, values.size(2))), slice(None))
        q, k, v = phi_q[part], phi_k[part], values[part]
        table = torch.matmul(q, k.transpose(2, 3))
        table = table * torch.ones_like(table).tril()
        above, below = table @ v, table.sum(3, keepdim=True)
        if state is not None:
            above, below = above + q @ state.sums, below + (q * state.normalizer.unsqueeze(2)).sum(3, keepdim=True)
        outputs.append(above.div(below))
        more = State(k.transpose(2, 3) @ v, k.sum(2))
        state = more if state is None else State(state.sums + more.sums, state.normalizer + more.normalizer)
    return torch.cat(outputs, 2)


def gated_delta_step(state, query, key, value, log_decay, beta):
    if state is None:
        state = torch.zeros_like(key.unsqueeze(-1) * value.unsqueeze(-2))
    faded = torch.mul(state, torch.exp(log_decay)[:, :, None, None])
    held = torch.matmul(faded.transpose(2, 3), key.unsqueeze(-1)).squeeze(-1)
    new = torch.addcmul(faded, key.unsqueeze(-1), (beta.unsqueeze(-1) * (value - held)).unsqueeze(-2))
    return torch.matmul(new.transpose(2, 3), query.unsqueeze(-1)).squeeze(-1) / key.size(-1) ** 0.5, new


def gated_delta_rule(queries, keys, values, log_decays, betas, chunk_size=64, state=None):
    kind = values.dtype
    low = kind in (torch.half, torch.bfloat16)
    args = [x.float() if low else x for x in (queries, keys, values, log_decays, betas)]
    memory = args[1].new_zeros(*keys.shape[:2], keys.size(-1), values.size(-1)) if state is None else state
    memory = memory.float() if low else memory
    outputs = []
    for q, k, v, g, b in zip(*[torch.split(x, chunk_size, dim=2) for x in args]):
        n = q.size(2)
        steps = torch.cumsum(g, dim=2)
        gap = steps.unsqueeze(3) - steps.unsqueeze(2)
        decay = torch.exp(torch.tril(gap)).tril()
        eye = torch.eye(n, dtype=q.dtype, device=q.device)
        system = eye + torch.tril(b.unsqueeze(3) * torch.matmul(k, k.transpose(2, 3)) * decay, -1)
        faded = torch.exp(steps).unsqueeze(3)
        right = b.unsqueeze(3) * (v - faded * torch.matmul(k, memory))
        u = torch.linalg.solve(system, right)
        out = faded * torch.matmul(q, memory) + torch.matmul(torch.matmul(q, k.transpose(2, 3)) * decay, u)
        outputs.append(out * q.size(-1) ** -0.5)
        rest = torch.exp(steps[:, :, -1:] - steps).unsqueeze(3)
        memory = faded[:, :, -1:] * memory + torch.matmul((rest * k).transpose(2, 3), u)
    return torch.cat(outputs, 2).to(kind), memory.to(kind)
