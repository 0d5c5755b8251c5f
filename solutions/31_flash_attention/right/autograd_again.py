"""Style: autograd itself, but each block of queries is a step of its own that computes its tiles again on the way back."""

import torch


def one_block(query, keys, values, start, block_size, causal):
    scale = query.shape[-1] ** -0.5
    top = total = out = None
    for first in range(0, keys.shape[-2], block_size):
        if causal and first >= start + query.shape[-2]:
            break
        s = query @ keys[..., first : first + block_size, :].mT * scale
        if causal:
            i = torch.arange(start, start + s.shape[-2], device=s.device)[:, None]
            j = torch.arange(first, first + s.shape[-1], device=s.device)
            s = torch.where(j <= i, s, torch.full_like(s, -torch.inf))
        here = s.amax(-1, keepdim=True).detach()
        if top is None:
            top, p = here, (s - here).exp()
            total, out = p.sum(-1, keepdim=True), p @ values[..., first : first + block_size, :]
            continue
        new = torch.maximum(top, here)
        p, keep = (s - new).exp(), (top - new).exp()
        total = total * keep + p.sum(-1, keepdim=True)
        out = out * keep + p @ values[..., first : first + block_size, :]
        top = new
    return out / total


class Again(torch.autograd.Function):
    """One block of queries; on the way back it is computed once more, with autograd."""

    @staticmethod
    def forward(ctx, query, keys, values, *rest):
        ctx.save_for_backward(query, keys, values)
        ctx.rest = rest
        return one_block(query, keys, values, *rest)

    @staticmethod
    def backward(ctx, grad):
        leaves = [x.detach().requires_grad_() for x in ctx.saved_tensors]
        with torch.enable_grad():
            total = (one_block(*leaves, *ctx.rest) * grad).sum()
        return (*torch.autograd.grad(total, leaves), None, None, None)


def flash_attention(query, keys, values, block_size=64, causal=False):
    blocks = query.split(block_size, dim=-2)
    parts = [Again.apply(q, keys, values, i * block_size, block_size, causal) for i, q in enumerate(blocks)]
    return torch.cat(parts, dim=-2)


def flash_attention_backward(query, keys, values, output, logsumexp, grad_output, block_size=64, causal=False):
    with torch.enable_grad():
        grads = [torch.zeros_like(query), torch.zeros_like(keys), torch.zeros_like(values)]
        for start in range(0, query.shape[-2], block_size):
            rows = slice(start, start + block_size)
            q = query[..., rows, :].detach().requires_grad_()
            k, v = keys.detach().requires_grad_(), values.detach().requires_grad_()
            out = one_block(q, k, v, start, block_size, causal)
            dq, dk, dv = torch.autograd.grad((out * grad_output[..., rows, :]).sum(), (q, k, v))
            grads[0][..., rows, :] = dq
            grads[1] += dk
            grads[2] += dv
    return tuple(grads)
