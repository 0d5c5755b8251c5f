"""Style: numpy for what is drawn; the two formulas in torch, with a total taken from the acceptance rate."""

import numpy as np
import torch


def acceptance_rate(target_probs, draft_probs):
    smaller = torch.min(target_probs, draft_probs)
    return smaller.double().sum(dim=-1).to(smaller.dtype)


def residual(target_probs, draft_probs):
    rows = (target_probs - draft_probs).clamp_min(0)
    total = rows.sum(-1, keepdim=True)
    rows = torch.where(total.expand_as(rows) > 0, rows, target_probs)
    return rows / rows.sum(-1, keepdim=True)


def draw(probs, u):
    cdf = np.cumsum(np.asarray(probs, dtype=np.float64))
    token = int(np.searchsorted(cdf, u, side="right"))
    return token if token < len(cdf) else int(np.flatnonzero(probs)[-1])


def accept_draft(target_probs, draft_probs, draft_tokens, uniforms):
    p, q = target_probs.detach().double().numpy(), draft_probs.detach().double().numpy()
    x, u = draft_tokens.numpy(), uniforms.numpy()
    i = np.arange(len(x))
    rejected = np.flatnonzero(u[:-1] >= p[i, x] / q[i, x])
    if rejected.size == 0:
        return torch.from_numpy(np.append(x, draw(p[-1], u[-1])))
    n = rejected[0]
    r = np.maximum(p[n] - q[n], 0)
    return torch.from_numpy(np.append(x[:n], draw(r / r.sum(), u[-1])))


def speculative_generate(target, draft, token, max_new_tokens, num_draft, generator=None):
    target_table, draft_table = torch.softmax(target, 1), torch.softmax(draft, 1)
    answer = np.array([token], dtype=np.int64)
    while answer.size <= max_new_tokens:
        first = torch.rand(num_draft, generator=generator, dtype=torch.float64)
        second = torch.rand(num_draft + 1, generator=generator, dtype=torch.float64)
        xs = [int(answer[-1])]
        for number in first.tolist():
            xs.append(draw(draft_table[xs[-1]].numpy(), number))
        more = accept_draft(target_table[xs], draft_table[xs[:-1]], torch.tensor(xs[1:]), second)
        answer = np.concatenate([answer, more.numpy()])
    return torch.from_numpy(answer[: max_new_tokens + 1])


def expected_tokens_per_round(rate, num_draft):
    return num_draft + 1 if rate == 1.0 else (rate ** (num_draft + 1) - 1) / (rate - 1)
