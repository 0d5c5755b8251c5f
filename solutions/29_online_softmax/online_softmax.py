"""Exercise 29: softmax in one pass. A running maximum and a running sum, block after block."""

import torch


def online_max_and_sum(scores: torch.Tensor, block_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The maximum and the sum of exp(score − maximum) along the last dimension, in one pass over blocks.

    Args:
        scores: attention scores, shape (…, T).
        block_size: how many scores one step looks at; it need not divide T, and may be larger.

    Returns:
        the maximum and the sum, each of shape (…).
    """
    # Task 1: begin with −inf and 0; each block may raise the maximum, and then the sum so far has to shrink.
    maximum = torch.full_like(scores[..., 0], -torch.inf)  # (…)
    total = torch.zeros_like(maximum)  # (…)
    for block in scores.split(block_size, dim=-1):  # (…, block_size), the last one may be smaller
        larger = torch.maximum(maximum, block.amax(dim=-1))  # (…)
        total = total * torch.exp(maximum - larger) + torch.exp(block - larger[..., None]).sum(dim=-1)  # (…)
        maximum = larger  # (…)
    return maximum, total


def merge_blocks(
    max_a: torch.Tensor,
    sum_a: torch.Tensor,
    out_a: torch.Tensor,
    max_b: torch.Tensor,
    sum_b: torch.Tensor,
    out_b: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Merge the attention to two blocks of keys into the attention to both, for the same queries.

    Args:
        max_a: the largest score of the first block, shape (…).
        sum_a: its sum of exp(score − max_a), shape (…).
        out_a: its attention output, already divided by sum_a, shape (…, h).
        max_b: the same for the second block, shape (…).
        sum_b: the same for the second block, shape (…).
        out_b: the same for the second block, shape (…, h).

    Returns:
        maximum, sum and output of both blocks together, with the same meaning and the same shapes.
    """
    # Task 2: bring both sums to one maximum, then weight each output by its share of the sum.
    maximum = torch.maximum(max_a, max_b)  # (…)
    part_a = sum_a * torch.exp(max_a - maximum)  # (…)
    part_b = sum_b * torch.exp(max_b - maximum)  # (…)
    total = part_a + part_b  # (…)
    output = out_a * (part_a / total)[..., None] + out_b * (part_b / total)[..., None]  # (…, h)
    return maximum, total, output
