"""Style: einsum, a softmax by hand, places in the packed tensor by counting, sequences of one length together."""

import torch


def refuse(lengths, most):
    for length in lengths:
        if int(length) < 0 or int(length) > most:
            raise ValueError(int(length))


def key_padding_mask(lengths, num_tokens, side="right"):
    refuse(lengths, num_tokens)
    places = torch.arange(num_tokens, device=lengths.device)
    match side:
        case "right":
            pass
        case "left":
            places = places.flip(0)
        case _:
            raise ValueError(side)
    return places[None, :] < lengths[:, None]


def masked_softmax(scores, mask):
    mask = mask.expand_as(scores)
    lowest = torch.finfo(scores.dtype).min
    scores = torch.where(mask, scores, lowest)  # clean before anything is computed
    largest = scores.amax(-1, keepdim=True).clamp(min=-1e6).detach()  # an empty row is far below it, and stays 0
    powers = torch.exp(scores - largest) * mask
    return powers / powers.sum(-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).tiny)


def additive_mask(mask, dtype):
    out = torch.empty(mask.shape, dtype=dtype, device=mask.device)
    out[mask] = 0
    out[~mask] = torch.finfo(dtype).min
    return out


def padded_attention(queries, keys, values, lengths, side="right", causal=False):
    T, h = queries.shape[-2], queries.shape[-1]
    real = key_padding_mask(lengths, T, side)
    clean = lambda x: torch.where(real[:, None, :, None], x, torch.zeros_like(x))  # noqa: E731
    mask = real[:, None, None, :] & real[:, None, :, None]
    if causal:
        mask = mask & torch.ones(T, T, device=queries.device).tril().bool()
    scores = torch.einsum("bhqd,bhkd->bhqk", clean(queries) * h**-0.5, clean(keys))
    return torch.einsum("bhqk,bhkd->bhqd", masked_softmax(scores, mask), clean(values))


def pack(x, lengths):
    refuse(lengths, x.shape[1])
    flat = x.reshape(x.shape[0] * x.shape[1], *x.shape[2:])
    real = key_padding_mask(lengths, x.shape[1]).reshape(-1)
    starts = torch.zeros(len(lengths) + 1, dtype=torch.int32, device=x.device)
    starts[1:] = torch.cumsum(lengths, 0)
    return flat.index_select(0, torch.nonzero(real)[:, 0]), starts


def unpack(packed, cu_seqlens, num_tokens):
    lengths = cu_seqlens[1:] - cu_seqlens[:-1]
    refuse(lengths, num_tokens)
    B, total = len(lengths), packed.shape[0]
    row = torch.repeat_interleave(torch.arange(B, device=packed.device), lengths.long())
    place = torch.arange(total, device=packed.device) - cu_seqlens[:-1].long()[row]
    out = torch.zeros(B * num_tokens, *packed.shape[1:], dtype=packed.dtype, device=packed.device)
    return out.index_copy(0, row * num_tokens + place, packed).unflatten(0, (B, num_tokens))


def packed_attention(queries, keys, values, cu_seqlens, causal=False):
    starts, lengths = cu_seqlens[:-1].long(), cu_seqlens.diff()
    out = torch.zeros_like(queries)
    for length in sorted(set(lengths.tolist()) - {0}):
        first = starts[lengths == length]
        places = (first[:, None] + torch.arange(length, device=queries.device)).reshape(-1)
        q, k, v = (x[places].unflatten(0, (len(first), length)) for x in (queries, keys, values))
        scores = torch.einsum("nqhd,nkhd->nhqk", q, k) / q.shape[-1] ** 0.5
        if causal:
            ahead = torch.ones(length, length, dtype=torch.bool, device=queries.device).triu(diagonal=1)
            scores = scores.masked_fill(ahead, -torch.inf)
        context = torch.einsum("nhqk,nkhd->nqhd", torch.softmax(scores, -1), v)
        out = out.index_copy(0, places, context.flatten(0, 1))
    return out
