"""Style: torch's own attention for each block of queries, with a bool mask cut out by positions."""

import torch
from torch.nn.functional import scaled_dot_product_attention as attention


def visible(rows, columns, window):
    gap = rows.unsqueeze(-1) - columns
    return torch.logical_and(gap.ge(0), gap.lt(window))


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    return visible(torch.arange(T), torch.arange(T), window)


def sliding_window_attention(query, keys, values, window):
    places = torch.arange(query.shape[2], device=query.device)
    out = []
    for rows in places.split(128):
        columns = places[max(0, int(rows[0]) - window + 1) : int(rows[-1]) + 1]
        a, b = int(columns[0]), int(columns[-1]) + 1
        out.append(
            attention(query[:, :, rows], keys[:, :, a:b], values[:, :, a:b], attn_mask=visible(rows, columns, window))
        )
    return torch.cat(out, 2)
