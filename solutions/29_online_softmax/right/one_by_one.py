"""Style: the paper's recurrence, one score at a time inside each block; prints."""

import torch


def online_max_and_sum(scores, block_size):
    m = None
    for first in range(0, scores.shape[-1], block_size):
        print("block from", first)
        for i in range(first, min(first + block_size, scores.shape[-1])):
            x = scores[..., i]
            if m is None:
                m, d = x, torch.ones_like(x)
                continue
            new = torch.max(m, x)
            d = d * torch.exp(m - new) + torch.exp(x - new)
            m = new
    return m, d


def merge_blocks(max_a, sum_a, out_a, max_b, sum_b, out_b):
    m = torch.max(max_a, max_b)
    d = sum_a * torch.exp(max_a - m) + sum_b * torch.exp(max_b - m)
    weight_a = sum_a * torch.exp(max_a - m) / d
    weight_b = sum_b * torch.exp(max_b - m) / d
    return m, d, weight_a[..., None] * out_a + weight_b[..., None] * out_b
