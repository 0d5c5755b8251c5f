"""Style: each tile's own softmax, merged by logsumexp; the backward pass goes through keys inside, queries outside."""

import math

import torch


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, n, causal):
        out, lse = tiled(q, k, v, n, causal)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.rest = n, causal
        return out

    @staticmethod
    def backward(ctx, grad):
        return (*flash_attention_backward(*ctx.saved_tensors, grad, *ctx.rest), None, None)


def score(q, k, i, j, causal):
    s = torch.einsum("bhid,bhjd->bhij", q, k).mul(1 / math.sqrt(q.size(-1)))
    if causal and j + k.size(2) > i:
        rows = torch.arange(i, i + q.size(2), device=q.device)
        columns = torch.arange(j, j + k.size(2), device=q.device)
        s = s.masked_fill(rows[:, None] < columns[None, :], float("-inf"))
    return s


def tiled(q, k, v, n, causal):
    outs, lses = [], []
    for i in range(0, q.size(2), n):
        out = lse = None
        for j in range(0, k.size(2), n):
            if causal and j > i:
                break
            s = score(q[:, :, i : i + n], k[:, :, j : j + n], i, j, causal)
            new = torch.logsumexp(s, -1)
            o = torch.softmax(s, -1) @ v[:, :, j : j + n]
            if out is None:
                out, lse = o, new
            else:
                both = torch.logaddexp(lse, new)
                out = out * (lse - both).exp().unsqueeze(-1) + o * (new - both).exp().unsqueeze(-1)
                lse = both
        outs.append(out)
        lses.append(lse)
    return torch.cat(outs, 2), torch.cat(lses, 2)


def flash_attention(query, keys, values, block_size=64, causal=False):
    return Attention.apply(query, keys, values, block_size, causal)


def flash_attention_backward(query, keys, values, output, logsumexp, grad_output, block_size=64, causal=False):
    T, scale = query.size(2), 1 / math.sqrt(query.size(3))
    n = block_size
    dq, dk, dv = [], torch.zeros_like(keys), torch.zeros_like(values)
    for i in range(0, T, n):
        q, g, o, l = (x[:, :, i : i + n] for x in (query, grad_output, output, logsumexp))
        delta = torch.einsum("bhid,bhid->bhi", g, o)
        grad = torch.zeros_like(q)
        for j in range(0, i + 1 if causal else T, n):
            k, v = keys[:, :, j : j + n], values[:, :, j : j + n]
            p = (score(q, k, i, j, causal) - l.unsqueeze(-1)).exp()
            ds = p * (g @ v.mT - delta.unsqueeze(-1)) * scale
            grad = grad + ds @ k
            dk[:, :, j : j + n] += ds.mT @ q
            dv[:, :, j : j + n] += p.mT @ g
        dq.append(grad)
    return torch.cat(dq, 2), dk, dv
