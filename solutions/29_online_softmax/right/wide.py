"""Style: half types are computed in float32 and cast back; merge divides at the end."""

import torch


def wide(t):
    return t if t.dtype == torch.float64 else t.float()


def online_max_and_sum(scores, block_size):
    x = wide(scores)
    maximum = torch.full_like(x.select(-1, 0), -torch.inf)
    total = torch.zeros_like(maximum)
    for block in torch.tensor_split(x, list(range(block_size, x.shape[-1], block_size)), dim=-1):
        before, maximum = maximum, torch.maximum(maximum, block.max(-1).values)
        total = torch.addcmul(torch.exp(block - maximum[..., None]).sum(-1), total, torch.exp(before - maximum))
    return maximum.to(scores.dtype), total.to(scores.dtype)


def merge_blocks(max_a, sum_a, out_a, max_b, sum_b, out_b):
    dtype = out_a.dtype
    max_a, sum_a, out_a, max_b, sum_b, out_b = map(wide, (max_a, sum_a, out_a, max_b, sum_b, out_b))
    maximum = torch.max(max_a, max_b)
    a, b = (max_a - maximum).exp() * sum_a, (max_b - maximum).exp() * sum_b
    output = (a[..., None] * out_a + b[..., None] * out_b) / (a + b)[..., None]
    return tuple(part.to(dtype) for part in (maximum, a + b, output))
