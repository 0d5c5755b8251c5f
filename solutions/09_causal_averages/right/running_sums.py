"""Running sums by cumsum, means by stacking, and fused attention with equal scores."""

import torch
import torch.nn.functional as F


def average_loop(x):
    sequences = []
    for sequence in x:
        total, rows = 0, []
        for count, row in enumerate(sequence, start=1):
            total = total + row
            rows.append(total / count)
        sequences.append(torch.stack(rows))
    return torch.stack(sequences)


def averaging_weights(T):
    counts = torch.arange(1, T + 1, dtype=torch.get_default_dtype())
    return (torch.ones(T, T) / counts[:, None]).tril()


def average_matmul(x):
    counts = torch.arange(1, x.size(1) + 1, device=x.device)
    return (torch.cumsum(x.double(), dim=1) / counts.view(1, -1, 1)).to(x.dtype)


def average_softmax(x):
    nothing = torch.zeros_like(x)
    return F.scaled_dot_product_attention(nothing, nothing, x, is_causal=True)
