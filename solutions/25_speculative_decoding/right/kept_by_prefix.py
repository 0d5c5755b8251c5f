"""Style: no loop over the draft: ratios by gather, a prefix of kept tokens by cumprod, searchsorted draws."""

import torch


def acceptance_rate(target_probs, draft_probs):
    return 1 - (target_probs - draft_probs).abs().sum(-1) / 2


def residual(target_probs, draft_probs):
    gap = torch.relu(target_probs - draft_probs)
    mass = gap.sum(-1, keepdim=True)
    safe = torch.where(mass > 0, mass, torch.ones_like(mass))
    return torch.where(mass > 0, gap / safe, target_probs)


def pick(probs, u):
    cdf = probs.double().cumsum(-1)
    last = int(torch.nonzero(probs).max())
    return min(int(torch.searchsorted(cdf, u.reshape(1), right=True)), last)


def accept_draft(target_probs, draft_probs, draft_tokens, uniforms):
    K = draft_tokens.numel()
    chosen = draft_tokens.unsqueeze(-1)
    p = target_probs[:K].double().gather(-1, chosen).squeeze(-1)
    q = draft_probs.double().gather(-1, chosen).squeeze(-1)
    kept = int((uniforms[:K] < p / q).long().cumprod(0).sum())
    row = target_probs[K] if kept == K else residual(target_probs[kept].double(), draft_probs[kept].double())
    return torch.cat([draft_tokens[:kept], draft_tokens.new_tensor([pick(row, uniforms[K])])])


def speculative_generate(target, draft, token, max_new_tokens, num_draft, generator=None):
    P, Q = target.softmax(-1), draft.softmax(-1)
    text = torch.tensor([token])
    while text.numel() < max_new_tokens + 1:
        r = torch.rand(2 * num_draft + 1, generator=generator, dtype=torch.float64)
        path = [int(text[-1])]
        for k in range(num_draft):
            path.append(pick(Q[path[-1]], r[k]))
        path = torch.tensor(path)
        text = torch.cat([text, accept_draft(P[path], Q[path[:-1]], path[1:], r[num_draft:])])
    return text[: max_new_tokens + 1]


def expected_tokens_per_round(rate, num_draft):
    return sum(rate**i for i in range(num_draft + 1))
