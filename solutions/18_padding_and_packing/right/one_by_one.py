"""Style: loops over the sequences; every sequence is cut out, so that there is nothing to mask."""

import math

import torch


def key_padding_mask(lengths, num_tokens, side="right"):
    if side != "right" and side != "left":
        raise ValueError(side)
    mask = torch.zeros(len(lengths), num_tokens, dtype=torch.bool, device=lengths.device)
    for row, length in enumerate(lengths.tolist()):
        if not 0 <= length <= num_tokens:
            raise ValueError("a length does not fit")
        if side == "right":
            mask[row, :length] = True
        else:
            mask[row, num_tokens - length :] = True
    return mask


def masked_softmax(scores, mask):
    mask = torch.broadcast_to(mask, scores.shape)
    if scores.dim() > 2:
        return torch.stack([masked_softmax(part, which) for part, which in zip(scores, mask)])
    rows = []
    for row, seen in zip(scores, mask):
        places = seen.nonzero().squeeze(1)
        weights = torch.zeros_like(row)
        if len(places):
            weights = weights.index_copy(0, places, torch.softmax(row[places], dim=0))
        rows.append(weights)
    return torch.stack(rows)


def additive_mask(mask, dtype):
    zero = torch.tensor(0.0, dtype=dtype, device=mask.device)
    lowest = torch.tensor(torch.finfo(dtype).min, dtype=dtype, device=mask.device)
    return torch.where(mask, zero, lowest)


def one(q, k, v, causal):
    """Attention of one sequence, (n, H, h) each."""
    q, k, v = (x.permute(1, 0, 2) for x in (q, k, v))
    scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1))
    if causal:
        n = q.size(1)
        scores = scores + torch.full((n, n), float("-inf"), dtype=q.dtype, device=q.device).triu(1)
    return torch.matmul(scores.softmax(-1), v).permute(1, 0, 2)


def padded_attention(queries, keys, values, lengths, side="right", causal=False):
    B, H, T, h = queries.shape
    key_padding_mask(lengths, T, side)  # refuses
    rows = []
    for b, n in enumerate(lengths.tolist()):
        first = T - n if side == "left" else 0
        q, k, v = (x[b, :, first : first + n].transpose(0, 1) for x in (queries, keys, values))
        context = one(q, k, v, causal).transpose(0, 1)  # (H, n, h)
        before, after = queries.new_zeros(H, first, h), queries.new_zeros(H, T - first - n, h)
        rows.append(torch.cat([before, context, after], dim=1))
    return torch.stack(rows)


def pack(x, lengths):
    parts, starts = [], [0]
    for row, n in zip(x, lengths.tolist()):
        if n < 0 or n > x.size(1):
            raise ValueError(f"{n} of {x.size(1)}")
        parts.append(row[:n])
        starts.append(starts[-1] + n)
    return torch.cat(parts), torch.tensor(starts, dtype=torch.int32, device=x.device)


def unpack(packed, cu_seqlens, num_tokens):
    places = cu_seqlens.tolist()
    rows = []
    for start, end in zip(places[:-1], places[1:]):
        if end - start > num_tokens:
            raise ValueError("too long")
        rest = torch.zeros(num_tokens - end + start, *packed.shape[1:], dtype=packed.dtype, device=packed.device)
        rows.append(torch.cat([packed[start:end], rest]))
    return torch.stack(rows)


def packed_attention(queries, keys, values, cu_seqlens, causal=False):
    places = cu_seqlens.tolist()
    out = [one(queries[a:b], keys[a:b], values[a:b], causal) for a, b in zip(places, places[1:])]
    return torch.cat(out, dim=0)
