"""Style: the blocks are folded by merge_blocks itself, with outputs that hold nothing of interest."""

from functools import reduce

import torch


def online_max_and_sum(scores: torch.Tensor, block_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    def of_block(block: torch.Tensor):
        largest = block.amax(dim=-1)
        return largest, torch.exp(block - largest.unsqueeze(-1)).sum(dim=-1), block[..., :1]

    parts = [of_block(block) for block in torch.split(scores, block_size, dim=-1)]
    maximum, total, _ = reduce(lambda one, two: merge_blocks(*one, *two), parts)
    return maximum, total


def merge_blocks(max_a, sum_a, out_a, max_b, sum_b, out_b):
    """Merge two blocks: the ratio of both sums decides.

    ratio = b / a, so that output = (out_a + ratio * out_b) / (1 + ratio), computed with the smaller part on top.
    """
    maximum = torch.maximum(max_a, max_b)
    a = (max_a - maximum).exp().mul(sum_a)
    b = (max_b - maximum).exp().mul(sum_b)
    total = torch.add(a, b)
    return (
        maximum,
        total,
        torch.einsum("...,...h->...h", a / total, out_a) + torch.einsum("...,...h->...h", b / total, out_b),
    )
