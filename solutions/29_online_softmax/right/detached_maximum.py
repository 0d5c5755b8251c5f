"""Style: the maximum is detached throughout (it cancels), ranges of indices, keepdim inside."""

import torch


def online_max_and_sum(scores: torch.Tensor, block_size: int):
    T = scores.shape[-1]
    running_max = torch.full(scores.shape[:-1] + (1,), float("-inf"), dtype=scores.dtype, device=scores.device)
    running_sum = torch.zeros_like(running_max)
    for start in range(0, T, block_size):
        block = scores[..., start : min(start + block_size, T)]
        new_max = torch.maximum(running_max, block.detach().max(dim=-1, keepdim=True).values)
        correction = torch.exp(running_max - new_max)
        running_sum = running_sum * correction + torch.exp(block - new_max).sum(dim=-1, keepdim=True)
        running_max = new_max
    return running_max.squeeze(-1), running_sum.squeeze(-1)


def merge_blocks(max_a, sum_a, out_a, max_b, sum_b, out_b):
    new_max = torch.maximum(max_a, max_b).detach()
    scale_a = torch.exp(max_a - new_max)
    scale_b = torch.exp(max_b - new_max)
    new_sum = sum_a * scale_a + sum_b * scale_b
    numerator = out_a * (sum_a * scale_a).unsqueeze(-1) + out_b * (sum_b * scale_b).unsqueeze(-1)
    return new_max, new_sum, numerator / new_sum.unsqueeze(-1)
