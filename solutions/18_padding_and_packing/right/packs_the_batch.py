"""Style: a padded batch is shifted to the left and packed, and blocks of queries see the keys of their sequences alone."""

import torch
import torch.nn.functional as F

BLOCK = 128


def key_padding_mask(lengths, num_tokens, side="right"):
    if side == "left":
        return ~key_padding_mask(num_tokens - lengths, num_tokens)
    if side != "right":
        raise ValueError(f"{side=}")
    if torch.any(lengths.clamp(0, num_tokens) != lengths):
        raise ValueError(f"{lengths=}")
    return torch.arange(num_tokens).to(lengths.device)[None] < lengths[:, None]


def masked_softmax(scores, mask):
    empty = ~mask.any(dim=-1, keepdim=True)
    weights = F.softmax(scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 0.0), dim=-1)
    return weights * mask


def additive_mask(mask, dtype):
    return torch.zeros_like(mask, dtype=dtype).masked_fill(mask == 0, torch.finfo(dtype).min)


def padded_attention(queries, keys, values, lengths, side="right", causal=False):
    B, H, T, h = queries.shape
    real = key_padding_mask(lengths, T, side)
    cu = F.pad(lengths.cumsum(0), (1, 0)).to(torch.int32)
    packed = packed_attention(*(x.transpose(1, 2)[real] for x in (queries, keys, values)), cu, causal)
    context = torch.zeros(B, T, H, h, dtype=queries.dtype, device=queries.device)
    return context.masked_scatter(real[..., None, None], packed).transpose(1, 2)


def pack(x, lengths):
    real = key_padding_mask(lengths, x.shape[1])
    cu = torch.zeros(len(lengths) + 1, dtype=torch.int32, device=lengths.device)
    cu[1:] = real.sum(dim=1).cumsum(dim=0)
    return x[real], cu


def unpack(packed, cu_seqlens, num_tokens):
    lengths = cu_seqlens[1:] - cu_seqlens[:-1]
    real = key_padding_mask(lengths, num_tokens)
    batch = packed.new_zeros((*real.shape, *packed.shape[1:]))
    return batch.index_put((real,), packed)


def packed_attention(queries, keys, values, cu_seqlens, causal=False):
    total, _, h = queries.shape
    places = torch.arange(total, device=queries.device)
    number = torch.searchsorted(cu_seqlens.contiguous(), places, right=True, out_int32=True) - 1
    blocks = []
    for rows in places.split(BLOCK):
        if not len(rows):
            break
        first, last = cu_seqlens[number[rows[0]]], cu_seqlens[number[rows[-1]] + 1]
        columns = places[first:last]
        seen = number[rows][:, None] == number[columns]
        if causal:
            seen = seen & (columns <= rows[:, None])
        scores = torch.einsum("qhd,khd->hqk", queries[rows], keys[columns]) / h**0.5
        weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
        blocks.append(torch.einsum("hqk,khd->qhd", weights, values[columns]))
    return torch.cat(blocks) if blocks else torch.zeros_like(queries)
