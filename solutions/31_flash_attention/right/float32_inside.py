"""Style: heads and batch folded into one dimension, float32 (or more) inside, baddbmm, keys in the outer loop."""

import torch


def prepared(*tensors):
    wide = torch.promote_types(tensors[0].dtype, torch.float32)
    return [x.to(wide).flatten(0, 1) for x in tensors]


def tile(q, k, i, j, causal):
    s = torch.bmm(q, k.transpose(1, 2)) / q.shape[2] ** 0.5
    if causal:
        a, b = s.shape[1], s.shape[2]
        s = s + torch.full((a, b), -torch.inf, dtype=s.dtype, device=s.device).triu(1 + i - j)
    return s


class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, keys, values, size, causal):
        q, k, v = prepared(query, keys, values)
        N, T, h = q.shape
        m = torch.full((N, T, 1), -1e30, dtype=q.dtype, device=q.device)
        l, o = torch.zeros_like(m), torch.zeros_like(q)
        for j in range(0, T, size):
            for i in range(0, T, size):
                if causal and i + size <= j:
                    continue
                r = slice(i, i + size)
                s = tile(q[:, r], k[:, j : j + size], i, j, causal)
                new = torch.maximum(m[:, r], s.max(2, keepdim=True).values)
                p = torch.exp(s - new)
                c = torch.exp(m[:, r] - new)
                l[:, r] = l[:, r] * c + p.sum(2, keepdim=True)
                o[:, r] = torch.baddbmm(o[:, r] * c, p, v[:, j : j + size])
                m[:, r] = new
        out = (o / l).view(query.shape).to(query.dtype)
        ctx.save_for_backward(query, keys, values, out, (m + l.log()).view(query.shape[:-1]))
        ctx.options = size, causal
        return out

    @staticmethod
    def backward(ctx, g):
        return *flash_attention_backward(*ctx.saved_tensors, g, *ctx.options), None, None


def flash_attention(query, keys, values, block_size=64, causal=False):
    return Fn.apply(query, keys, values, block_size, causal)


def flash_attention_backward(query, keys, values, output, logsumexp, grad_output, block_size=64, causal=False):
    q, k, v, o, g, l = prepared(query, keys, values, output, grad_output, logsumexp[..., None])
    d = (o * g).sum(2, keepdim=True)
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for i in range(0, q.shape[1], block_size):
        for j in range(0, k.shape[1], block_size):
            if causal and i + block_size <= j:
                continue
            r, c = slice(i, i + block_size), slice(j, j + block_size)
            p = torch.exp(tile(q[:, r], k[:, c], i, j, causal) - l[:, r])
            dv[:, c].baddbmm_(p.transpose(1, 2), g[:, r])
            ds = p * (torch.bmm(g[:, r], v[:, c].transpose(1, 2)) - d[:, r]) / q.shape[2] ** 0.5
            dq[:, r].baddbmm_(ds, k[:, c])
            dk[:, c].baddbmm_(ds.transpose(1, 2), q[:, r])
    return tuple(x.view(query.shape).to(query.dtype) for x in (dq, dk, dv))
