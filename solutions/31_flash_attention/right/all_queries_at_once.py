"""Style: one loop over blocks of keys for all queries together: a tile is T by block_size; setup_context."""

import torch


def strips(keys, block_size):
    return [slice(j, j + block_size) for j in range(0, keys.shape[-2], block_size)]


def logits(query, keys, strip, causal):
    s = query @ keys[..., strip, :].mT / query.shape[-1] ** 0.5
    if causal:
        position = torch.arange(query.shape[-2], device=query.device)
        s = s.masked_fill(position[strip] > position[:, None], -torch.inf)
    return s


class Flash(torch.autograd.Function):
    @staticmethod
    def forward(query, keys, values, block_size, causal):
        m = d = out = None
        for strip in strips(keys, block_size):
            s = logits(query, keys, strip, causal)
            new = s.amax(-1) if m is None else torch.maximum(m, s.amax(-1))
            p = torch.exp(s - new[..., None])
            if m is None:
                d, out = p.sum(-1), p @ values[..., strip, :]
            else:
                d = d * torch.exp(m - new) + p.sum(-1)
                out = out * torch.exp(m - new)[..., None] + p @ values[..., strip, :]
            m = new
        return out / d[..., None], m + d.log()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:3], *output)
        ctx.mark_non_differentiable(output[1])
        ctx.block_size, ctx.causal = inputs[3:]

    @staticmethod
    def backward(ctx, grad, _):
        return (*flash_attention_backward(*ctx.saved_tensors, grad, ctx.block_size, ctx.causal), None, None)


def flash_attention(query, keys, values, block_size=64, causal=False):
    return Flash.apply(query, keys, values, block_size, causal)[0]


def flash_attention_backward(query, keys, values, output, logsumexp, grad_output, block_size=64, causal=False):
    delta = (grad_output * output).sum(-1, True)
    dq = torch.zeros_like(query)
    dk, dv = [], []
    for strip in strips(keys, block_size):
        p = torch.exp(logits(query, keys, strip, causal) - logsumexp.unsqueeze(-1))
        ds = p * (grad_output @ values[..., strip, :].mT - delta) / query.shape[-1] ** 0.5
        dq += ds @ keys[..., strip, :]
        dk.append(ds.mT @ query)
        dv.append(p.mT @ grad_output)
    return dq, torch.cat(dk, -2), torch.cat(dv, -2)
