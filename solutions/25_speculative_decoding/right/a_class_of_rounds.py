"""Style: a small class holds the state of a text; recursion over the draft; logarithms of the ratios."""

import math
from dataclasses import dataclass, field
from itertools import accumulate

import torch


def acceptance_rate(target_probs, draft_probs):
    return (target_probs + draft_probs - (target_probs - draft_probs).abs()).sum(dim=-1) / 2


def residual(target_probs, draft_probs):
    positive = torch.where(target_probs > draft_probs, target_probs - draft_probs, 0.0)
    rejected = positive.sum(dim=-1, keepdim=True)
    agreed = (rejected == 0).to(target_probs.dtype)
    return (positive + agreed * target_probs) / (rejected + agreed)


def sample(distribution, u):
    running = list(accumulate(distribution))
    for index, upper in enumerate(running):
        if upper > u:
            return index
    return len(distribution) - 1 - next(i for i, p in enumerate(reversed(distribution)) if p > 0)


def accept_draft(target_probs, draft_probs, draft_tokens, uniforms):
    p, q = target_probs.to(torch.float64), draft_probs.to(torch.float64)
    last = float(uniforms[len(draft_tokens)])

    def from_place(i):
        if i == len(draft_tokens):
            return [sample(p[i].tolist(), last)]
        token, u = int(draft_tokens[i]), float(uniforms[i])
        accept = p[i, token] > 0 and (u == 0 or math.log(u) < math.log(p[i, token]) - math.log(q[i, token]))
        if accept:
            return [token, *from_place(i + 1)]
        return [sample(residual(p[i], q[i]).tolist(), last)]

    return torch.tensor(from_place(0))


@dataclass
class Text:
    target: torch.Tensor
    draft: torch.Tensor
    tokens: list = field(default_factory=list)

    def extend(self, r, k):
        words = [self.tokens[-1]]
        while len(words) <= k:
            words.append(sample(self.draft[words[-1]].softmax(0).tolist(), float(r[len(words) - 1])))
        new = accept_draft(
            self.target[torch.tensor(words)].softmax(-1),
            self.draft[torch.tensor(words[:-1])].softmax(-1),
            torch.tensor(words[1:]),
            r[k:],
        )
        self.tokens.extend(int(t) for t in new)


def speculative_generate(target, draft, token, max_new_tokens, num_draft, generator=None):
    text = Text(target, draft, [token])
    while len(text.tokens) - 1 < max_new_tokens:
        text.extend(torch.empty(2 * num_draft + 1, dtype=torch.float64).uniform_(generator=generator), num_draft)
    return torch.tensor(text.tokens)[: 1 + max_new_tokens]


def expected_tokens_per_round(rate, num_draft):
    return float(torch.tensor(rate, dtype=torch.float64).pow(torch.arange(num_draft + 1)).sum())
