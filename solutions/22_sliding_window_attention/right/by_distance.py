"""Style: one score for each distance, by shifting the keys; a stack of them along a last dimension; own softmax."""

import torch


def sliding_window_mask(T, window):
    rows, columns = torch.meshgrid(torch.arange(T), torch.arange(T), indexing="ij")
    return (columns <= rows) * (columns > rows - window)


def behind(x, distance):
    """x of the token so far behind; zeros where there is none."""
    return torch.cat([torch.zeros_like(x[..., :distance, :]), x[..., : x.shape[-2] - distance, :]], dim=-2)


def sliding_window_attention(query, keys, values, window):
    T, scale = query.shape[-2], query.shape[-1] ** -0.5
    distances = range(min(window, T))
    scores = []
    for distance in distances:
        score = (query * behind(keys, distance)).sum(-1) * scale
        there = torch.arange(T, device=query.device) >= distance
        scores.append(torch.where(there, score, torch.full_like(score, -torch.inf)))
    scores = torch.stack(scores, -1)
    weights = torch.exp(scores - scores.amax(-1, keepdim=True))
    weights = weights / weights.sum(-1, keepdim=True)
    return sum(weights[..., distance, None] * behind(values, distance) for distance in distances)
