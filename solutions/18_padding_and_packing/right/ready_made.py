"""Style: torch's own attention, where instead of masked_fill, pad_sequence for the way back."""

import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.nn.utils.rnn import pad_sequence


def key_padding_mask(lengths, num_tokens, side="right"):
    if side not in {"left", "right"}:
        raise ValueError("side")
    if lengths.min() < 0 or lengths.max() > num_tokens:
        raise ValueError("lengths")
    mask = torch.arange(num_tokens, device=lengths.device).expand(len(lengths), -1).lt(lengths.unsqueeze(1))
    return mask if side == "right" else mask.flip(1)


def masked_softmax(scores, mask):
    scores = torch.where(mask, scores, float("-inf"))
    alive = mask.any(-1, keepdim=True)
    scores = torch.where(alive, scores, 0.0)
    return torch.where(mask & alive, scores.softmax(-1), 0.0)


def additive_mask(mask, dtype):
    return (~mask).to(dtype) * torch.finfo(dtype).min


def padded_attention(queries, keys, values, lengths, side="right", causal=False):
    T = queries.size(2)
    real = key_padding_mask(lengths, T, side)
    queries, keys, values = [torch.where(real[:, None, :, None], x, 0.0) for x in (queries, keys, values)]
    visible = real[:, None, None, :].expand(-1, -1, T, -1)
    if causal:
        rows = torch.arange(T, device=queries.device)
        visible = visible & (rows[:, None] >= rows)
    visible = visible | torch.eye(T, dtype=torch.bool, device=queries.device)  # padding may see itself: no empty row
    context = scaled_dot_product_attention(queries, keys, values, attn_mask=visible)
    return torch.where(real[:, None, :, None], context, 0.0)


def pack(x, lengths):
    if ((lengths < 0) | (lengths > x.shape[1])).any():
        raise ValueError("lengths")
    packed = torch.cat([row[:n] for row, n in zip(x.unbind(0), lengths.tolist())])
    cu = torch.nn.functional.pad(lengths.cumsum(0), (1, 0)).int()
    return packed, cu


def unpack(packed, cu_seqlens, num_tokens):
    lengths = torch.diff(cu_seqlens)
    if (lengths > num_tokens).any():
        raise ValueError("a sequence is longer than num_tokens")
    rows = list(packed.split(lengths.tolist()))
    filler = packed.new_zeros(num_tokens, *packed.shape[1:])  # so that all rows become this long
    return pad_sequence([filler, *rows], batch_first=True)[1:]


def packed_attention(queries, keys, values, cu_seqlens, causal=False):
    lengths = cu_seqlens.diff().tolist()
    out = []
    for q, k, v in zip(queries.split(lengths), keys.split(lengths), values.split(lengths)):
        q, k, v = q.transpose(0, 1)[None], k.transpose(0, 1)[None], v.transpose(0, 1)[None]
        if q.shape[2]:
            out.append(scaled_dot_product_attention(q, k, v, is_causal=causal)[0].transpose(0, 1))
    return torch.cat(out) if out else torch.zeros_like(queries)
