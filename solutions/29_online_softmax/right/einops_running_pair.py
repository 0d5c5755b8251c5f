"""Style: einops; the first block begins the running pair."""

import torch
from einops import reduce, rearrange


def online_max_and_sum(scores, block_size):
    running = None
    for first in range(0, scores.size(-1), block_size):
        block = scores[..., first : first + block_size]
        top = reduce(block, "... t -> ...", "max")
        part = reduce((block - rearrange(top, "... -> ... 1")).exp(), "... t -> ...", "sum")
        if running is None:
            running = top, part
        else:
            old, acc = running
            best = torch.where(old > top, old, top)
            running = best, acc * (old - best).exp() + part * (top - best).exp()
    return running


def merge_blocks(max_a, sum_a, out_a, max_b, sum_b, out_b):
    new_max = torch.stack([max_a, max_b]).amax(0)
    wa = (max_a - new_max).exp() * sum_a
    wb = (max_b - new_max).exp() * sum_b
    share = (wa / (wa + wb)).unsqueeze(-1)
    return new_max, wa + wb, share * out_a + (1 - share) * out_b
