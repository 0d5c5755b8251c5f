"""Style: NaN is made in empty rows and replaced inside, as nan_to_num does; slices are written in place; prints."""

import torch

SIDES = dict(right=False, left=True)


def key_padding_mask(lengths, num_tokens, side="right"):
    try:
        is_left = SIDES[side]
    except KeyError as error:
        raise ValueError(f"unknown side {side}") from error
    if not all(0 <= n <= num_tokens for n in lengths.tolist()):
        raise ValueError(f"lengths {lengths.tolist()} do not fit {num_tokens}")
    counted = torch.ones(len(lengths), num_tokens, dtype=torch.int64, device=lengths.device).cumsum(1)
    return counted > (num_tokens - lengths)[:, None] if is_left else counted <= lengths[:, None]


def masked_softmax(scores, mask):
    return scores.masked_fill(mask.logical_not(), float("-inf")).softmax(dim=-1).nan_to_num(0.0)


def additive_mask(mask, dtype):
    out = torch.full_like(mask, torch.finfo(dtype).min, dtype=dtype)
    return out.masked_fill_(mask, 0.0)


def padded_attention(queries, keys, values, lengths, side="right", causal=False):
    print("lengths", lengths)
    B, H, T, h = queries.size()
    real = key_padding_mask(lengths, T, side).view(B, 1, T, 1)
    q, k, v = queries.clone(), keys.clone(), values.clone()
    for x in (q, k, v):
        x.masked_fill_(~real, 0)
    mask = real * real.mT  # (B, 1, T, T)
    if causal:
        mask = mask.tril()
    return masked_softmax(q.matmul(k.transpose(2, 3)).div(h**0.5), mask).matmul(v)


def pack(x, lengths):
    return x[key_padding_mask(lengths, x.size(1))], torch.cat((torch.tensor([0]).to(lengths), lengths)).cumsum(0).int()


def unpack(packed, cu_seqlens, num_tokens):
    cu = [int(place) for place in cu_seqlens]
    if max(b - a for a, b in zip(cu, cu[1:])) > num_tokens:
        raise ValueError
    x = torch.zeros((len(cu) - 1, num_tokens) + packed.shape[1:], dtype=packed.dtype, device=packed.device)
    for i in range(len(cu) - 1):
        x[i, : cu[i + 1] - cu[i]] = packed[cu[i] : cu[i + 1]]
    return x


def packed_attention(queries, keys, values, cu_seqlens, causal=False):
    out = torch.empty_like(queries)
    for a, b in zip(cu_seqlens[:-1], cu_seqlens[1:]):
        q, k, v = queries[a:b].movedim(0, 1), keys[a:b].movedim(0, 1), values[a:b].movedim(0, 1)
        mask = torch.ones(b - a, b - a, dtype=torch.bool, device=q.device)
        if causal:
            mask = torch.tril(mask)
        out[a:b] = (masked_softmax(q @ k.mT * q.size(-1) ** -0.5, mask) @ v).movedim(1, 0)
    return out
