"""Style: lists and floats wherever no gradient is asked for; one random number after the other."""

import torch


def acceptance_rate(target_probs, draft_probs):
    return torch.where(target_probs < draft_probs, target_probs, draft_probs).sum(-1)


def residual(target_probs, draft_probs):
    if target_probs.dim() > 1:
        return torch.stack([residual(p, q) for p, q in zip(target_probs, draft_probs)])
    gap = torch.maximum(target_probs - draft_probs, torch.zeros_like(target_probs))
    return gap / gap.sum() if gap.sum() > 0 else target_probs.clone()


def choose(weights, u):
    """weights need not sum to 1: the number is scaled instead."""
    goal, total = u * sum(weights), 0.0
    for token, weight in enumerate(weights):
        total += weight
        if total > goal and weight > 0:
            return token
    return max(t for t, weight in enumerate(weights) if weight > 0)


def verify(ps, qs, tokens, us):
    for i in range(len(tokens)):
        p, q = ps[i][tokens[i]], qs[i][tokens[i]]
        if us[i] * q >= p:
            return tokens[:i] + [choose([max(a - b, 0.0) for a, b in zip(ps[i], qs[i])], us[-1])]
    return tokens + [choose(ps[-1], us[-1])]


def accept_draft(target_probs, draft_probs, draft_tokens, uniforms):
    result = verify(target_probs.tolist(), draft_probs.tolist(), draft_tokens.tolist(), uniforms.tolist())
    return torch.tensor(result, dtype=torch.long)


def speculative_generate(target, draft, token, max_new_tokens, num_draft, generator=None):
    big = torch.softmax(target, dim=1).tolist()
    small = torch.softmax(draft, dim=1).tolist()
    out = []
    last = token
    while len(out) < max_new_tokens:
        us = [torch.rand((), generator=generator, dtype=torch.float64).item() for _ in range(2 * num_draft + 1)]
        guesses, at = [], last
        for i in range(num_draft):
            at = choose(small[at], us[i])
            guesses.append(at)
        befores = [last] + guesses
        new = verify([big[t] for t in befores], [small[t] for t in befores[:-1]], guesses, us[num_draft:])
        out.extend(new)
        last = new[-1]
    return torch.tensor([token] + out[:max_new_tokens])


def expected_tokens_per_round(rate, num_draft):
    total, chance = 1.0, 1.0
    for _ in range(num_draft):
        chance *= rate
        total += chance
    return total
