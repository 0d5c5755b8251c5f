"""Style: the residual of every place at once; behind the draft it is that of a draft of zeros, the target itself."""

import torch
from torch.nn.functional import pad


def acceptance_rate(target_probs: torch.Tensor, draft_probs: torch.Tensor) -> torch.Tensor:
    return torch.einsum("...v->...", torch.stack([target_probs, draft_probs]).amin(0))


def residual(target_probs: torch.Tensor, draft_probs: torch.Tensor) -> torch.Tensor:
    missing = target_probs - torch.minimum(target_probs, draft_probs)
    total = missing.sum(-1, keepdim=True)
    missing = missing + target_probs * (total == 0)
    return missing / missing.sum(-1, keepdim=True)


def accept_draft(target_probs, draft_probs, draft_tokens, uniforms):
    places = torch.arange(len(draft_tokens))
    ratios = (target_probs.double()[places, draft_tokens] / draft_probs.double()[places, draft_tokens]).tolist()
    ends = residual(target_probs.double(), pad(draft_probs.double(), (0, 0, 0, 1)))
    count = next((i for i, ratio in enumerate(ratios) if not uniforms[i] < ratio), len(ratios))
    sums = torch.cumsum(ends[count], 0)
    above = torch.nonzero(sums > uniforms[-1]).flatten()
    token = above[0] if len(above) else torch.nonzero(ends[count]).flatten()[-1]
    return torch.cat((draft_tokens[:count], token.view(1)))


def speculative_generate(target, draft, token, max_new_tokens, num_draft, generator=None):
    def round_from(start):
        to_draft, to_accept = torch.rand(2 * num_draft + 1, generator=generator, dtype=torch.float64).split(
            [num_draft, num_draft + 1]
        )
        before, q = [start], torch.empty(num_draft, draft.shape[1], dtype=torch.float64)
        for i, number in enumerate(to_draft):
            q[i] = torch.softmax(draft[before[-1]], -1)
            before.append(int((q[i].cumsum(0) <= number).sum().clamp(max=len(q[i]) - 1)))
        drafted = torch.tensor(before[1:])
        return accept_draft(torch.softmax(target[before], -1), q, drafted, to_accept)

    text = torch.full((1,), token, dtype=torch.int64)
    while (left := max_new_tokens - len(text) + 1) > 0:
        text = torch.cat([text, round_from(int(text[-1]))[:left]])
    return text


def expected_tokens_per_round(rate, num_draft):
    if abs(1.0 - rate) < 1e-12:
        return num_draft + 1
    return float((1.0 - pow(rate, num_draft + 1)) / (1.0 - rate))
