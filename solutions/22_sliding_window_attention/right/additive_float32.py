"""Style: an additive mask in float32 inside, cast back at the end; blocks of 256 queries; prints."""

import torch


def sliding_window_mask(T, window):
    index = torch.arange(T)
    return torch.stack([(index <= i) & (index > i - window) for i in range(T)])


def sliding_window_attention(query, keys, values, window):
    b, heads, t, h = query.size()
    print("window", window, "of", t)
    pieces = []
    for start in range(0, t, 256):
        stop = min(start + 256, t)
        left = max(start + 1 - window, 0)
        q, k, v = query[:, :, start:stop].float(), keys[:, :, left:stop].float(), values[:, :, left:stop].float()
        bias = torch.full((stop - start, stop - left), -torch.inf, device=q.device).triu(start - left + 1)
        far = torch.full((stop - start, stop - left), -torch.inf, device=q.device).tril(start - left - window)
        scores = torch.matmul(q, k.transpose(2, 3)).div(h**0.5) + bias + far
        pieces.append(torch.matmul(scores.softmax(dim=3), v).to(query.dtype))
    return torch.cat(pieces, dim=2)
