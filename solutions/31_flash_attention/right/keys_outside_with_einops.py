"""Style: einops; keys in the outer loop, as in the first paper, and sums in float64."""

import torch
from einops import rearrange, einsum


def tiles(T, n):
    return [slice(a, min(a + n, T)) for a in range(0, T, n)]


def keep(rows, cols, device):
    r = torch.arange(rows.start, rows.stop, device=device)
    c = torch.arange(cols.start, cols.stop, device=device)
    return rearrange(c, "c -> 1 c") <= rearrange(r, "r -> r 1")


def attention_and_logsumexp(query, keys, values, block_size, causal):
    *lead, T, h = query.shape
    big = torch.float64
    o = torch.zeros(*lead, T, h, dtype=big, device=query.device)
    l = torch.zeros(*lead, T, dtype=big, device=query.device)
    m = torch.full((*lead, T), -torch.inf, dtype=big, device=query.device)
    for c in tiles(T, block_size):
        for r in tiles(T, block_size):
            if causal and c.start >= r.stop:
                continue
            s = einsum(query[..., r, :].to(big), keys[..., c, :].to(big), "... r h, ... c h -> ... r c") * h**-0.5
            if causal:
                s = torch.where(keep(r, c, s.device), s, -torch.inf)
            mt = s.amax(-1)
            new = torch.maximum(m[..., r], mt)
            p = torch.exp(s - new[..., None])
            old = torch.exp(m[..., r] - new)
            lnew = old * l[..., r] + p.sum(-1)
            o[..., r, :] = (o[..., r, :] * (l[..., r] * old)[..., None] + p @ values[..., c, :].to(big)) / lnew[
                ..., None
            ]
            m[..., r], l[..., r] = new, lnew
    return o.to(query.dtype), (m + l.log()).to(query.dtype)


def flash_attention_backward(query, keys, values, output, logsumexp, grad_output, block_size=64, causal=False):
    T, h = query.shape[-2:]
    dq, dk, dv = (torch.zeros(t.shape, dtype=torch.float64, device=t.device) for t in (query, keys, values))
    delta = (output.double() * grad_output.double()).sum(-1, keepdim=True)
    for r in tiles(T, block_size):
        for c in tiles(T, block_size):
            if causal and c.start >= r.stop:
                break
            q, g, k, v = (
                t.double() for t in (query[..., r, :], grad_output[..., r, :], keys[..., c, :], values[..., c, :])
            )
            p = torch.exp(q @ k.mT * h**-0.5 - logsumexp[..., r, None].double())
            if causal:
                p = torch.where(keep(r, c, p.device), p, 0.0)
            dv[..., c, :] += p.mT @ g
            ds = p * (g @ v.mT - delta[..., r, :]) * h**-0.5
            dq[..., r, :] += ds @ k
            dk[..., c, :] += ds.mT @ q
    return dq.to(query.dtype), dk.to(keys.dtype), dv.to(values.dtype)


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, keys, values, block_size, causal):
        output, lse = attention_and_logsumexp(query, keys, values, block_size, causal)
        ctx.save_for_backward(query, keys, values, output, lse)
        ctx.rest = block_size, causal
        return output

    @staticmethod
    def backward(ctx, grad_output):
        return *flash_attention_backward(*ctx.saved_tensors, grad_output, *ctx.rest), None, None


def flash_attention(query, keys, values, block_size=64, causal=False):
    return FlashAttention.apply(query, keys, values, block_size, causal)
