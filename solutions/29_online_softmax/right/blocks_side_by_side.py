"""All blocks stand side by side, padded with -inf; their maxima and sums are put together afterwards."""

import torch


def online_max_and_sum(scores, block_size):
    missing = -scores.shape[-1] % block_size
    padded = torch.nn.functional.pad(scores, (0, missing), value=float("-inf"))
    blocks = padded.unflatten(-1, (-1, block_size))
    largest = blocks.amax(dim=-1)
    sums = (blocks - largest[..., None]).exp().sum(dim=-1)
    maximum = largest.amax(dim=-1)
    return maximum, (sums * (largest - maximum[..., None]).exp()).sum(dim=-1)


def merge_blocks(max_a, sum_a, out_a, max_b, sum_b, out_b):
    maxima, sums, outs = torch.stack([max_a, max_b]), torch.stack([sum_a, sum_b]), torch.stack([out_a, out_b])
    maximum = maxima.amax(dim=0)
    parts = sums * (maxima - maximum).exp()
    total = parts.sum(dim=0)
    return maximum, total, (parts[..., None] * outs).sum(dim=0) / total[..., None]
