"""Style: padded to whole blocks, all blocks of queries against one block of keys after the other, with einsum."""

import math
import torch
import torch.nn.functional as F


def blocks(x, n):
    T = x.shape[-2]
    pad = -T % n
    x = F.pad(x, (0, 0, 0, pad))
    return x.unflatten(-2, (-1, n))  # B H N n h


def scores_of(qb, kb, j, T, n, causal, scale):
    s = torch.einsum("bhnqd,bhkd->bhnqk", qb, kb) * scale
    cols = j * n + torch.arange(n, device=s.device)
    s = s.masked_fill(cols >= T, -math.inf)
    if causal:
        rows = torch.arange(qb.shape[2] * n, device=s.device).view(-1, n, 1)
        s = s.masked_fill(cols > rows, -math.inf)
    return s


def attention_and_logsumexp(query, keys, values, block_size, causal):
    T, h = query.shape[-2:]
    n = min(block_size, T)
    qb, kb, vb = (blocks(t, n) for t in (query, keys, values))
    o = torch.zeros_like(qb)
    m = torch.full(qb.shape[:-1], -math.inf, dtype=query.dtype, device=query.device)
    d = torch.zeros_like(m)
    for j in range(kb.shape[2]):
        s = scores_of(qb, kb[:, :, j], j, T, n, causal, 1 / math.sqrt(h))
        new_m = torch.maximum(m, s.amax(-1))
        p = torch.exp(s - new_m.unsqueeze(-1))
        c = torch.exp(m - new_m)
        d = d * c + p.sum(-1)
        o = o * c.unsqueeze(-1) + torch.einsum("bhnqk,bhkd->bhnqd", p, vb[:, :, j])
        m = new_m
    out = (o / d.unsqueeze(-1)).flatten(2, 3)[:, :, :T]
    return out, (m + d.log()).flatten(2, 3)[:, :, :T]


def flash_attention_backward(query, keys, values, output, logsumexp, grad_output, block_size=64, causal=False):
    T, h = query.shape[-2:]
    n = min(block_size, T)
    qb, kb, vb, gb = (blocks(t, n) for t in (query, keys, values, grad_output))
    lb = blocks(logsumexp[..., None], n)
    D = blocks((grad_output * output).sum(-1, keepdim=True), n)
    dq, dks, dvs = torch.zeros_like(qb), [], []
    for j in range(kb.shape[2]):
        p = torch.exp(scores_of(qb, kb[:, :, j], j, T, n, causal, 1 / math.sqrt(h)) - lb)
        dvs.append(torch.einsum("bhnqk,bhnqd->bhkd", p, gb))
        dp = torch.einsum("bhnqd,bhkd->bhnqk", gb, vb[:, :, j])
        ds = p * (dp - D) / math.sqrt(h)
        dq = dq + torch.einsum("bhnqk,bhkd->bhnqd", ds, kb[:, :, j])
        dks.append(torch.einsum("bhnqk,bhnqd->bhkd", ds, qb))
    return dq.flatten(2, 3)[:, :, :T], torch.cat(dks, 2)[:, :, :T], torch.cat(dvs, 2)[:, :, :T]


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, keys, values, block_size, causal):
        out, lse = attention_and_logsumexp(query, keys, values, block_size, causal)
        ctx.save_for_backward(query, keys, values, out, lse)
        ctx.block_size = block_size
        ctx.causal = causal
        return out

    @staticmethod
    def backward(ctx, grad_output):
        dq, dk, dv = flash_attention_backward(*ctx.saved_tensors, grad_output, ctx.block_size, ctx.causal)
        return dq, dk, dv, None, None


def flash_attention(query, keys, values, block_size=64, causal=False):
    return FlashAttention.apply(query, keys, values, block_size, causal)
