"""Style: both parts stacked along a new dimension; a very small number as the first maximum."""

import torch


def online_max_and_sum(scores, block_size):
    m = scores.new_full(scores.shape[:-1], torch.finfo(scores.dtype).min)
    s = scores.new_zeros(scores.shape[:-1])
    while scores.shape[-1]:
        block, scores = scores[..., :block_size], scores[..., block_size:]
        both = torch.cat([m.unsqueeze(-1), block], dim=-1)
        new = both.amax(dim=-1)
        s = s * torch.exp(m - new) + torch.exp(block - new.unsqueeze(-1)).sum(dim=-1)
        m = new
    return m, s


def merge_blocks(max_a, sum_a, out_a, max_b, sum_b, out_b):
    maxima, sums, outs = torch.stack([max_a, max_b]), torch.stack([sum_a, sum_b]), torch.stack([out_a, out_b])
    m = maxima.amax(dim=0)
    parts = sums * torch.exp(maxima - m)
    total = parts.sum(dim=0)
    return m, total, ((parts / total)[..., None] * outs).sum(dim=0)
