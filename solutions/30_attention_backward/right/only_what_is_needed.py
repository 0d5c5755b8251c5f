"""No gradient is computed that nobody needs; the row sums come from the context vectors; no given helper."""

import math

import torch


def _no_graph(function):
    def wrapped(*args, **kwargs):
        with torch.no_grad():
            return function(*args, **kwargs)

    return wrapped


@_no_graph
def softmax_backward(weights, grad_weights):
    hidden = weights == 0
    clean = torch.where(hidden, 0.0, grad_weights)
    return torch.addcmul(weights * clean, weights, (weights * clean).sum(-1, True), value=-1.0)


@_no_graph
def attention_forward(queries, keys, values, causal=False):
    B, H, T, h = queries.shape
    flat = [tensor.reshape(B * H, T, h) for tensor in (queries, keys, values)]
    scores = torch.bmm(flat[0], flat[1].transpose(1, 2)).div(math.sqrt(h))
    if causal:
        scores.masked_fill_(~torch.ones_like(scores, dtype=torch.bool).tril(), float("-inf"))
    scores -= scores.max(dim=-1, keepdim=True).values
    weights = scores.exp()
    weights /= weights.sum(dim=-1, keepdim=True)
    return torch.bmm(weights, flat[2]).view(B, H, T, h), weights.view(B, H, T, T)


def _grad_scores(values, weights, grad_context):
    context = weights @ values
    delta = row_products(context, grad_context)[..., None]
    inner = (grad_context @ values.transpose(2, 3) - delta) / math.sqrt(values.shape[-1])
    return weights * torch.where(weights > 0, inner, torch.zeros_like(inner))


@_no_graph
def attention_backward(queries, keys, values, weights, grad_context):
    grad_scores = _grad_scores(values, weights, grad_context)
    return grad_scores @ keys, grad_scores.transpose(2, 3) @ queries, weights.transpose(2, 3) @ grad_context


@_no_graph
def row_products(context, grad_context):
    return torch.linalg.vecdot(context, grad_context)


@_no_graph
def cross_entropy_backward(logits, targets):
    kept = targets != -100
    count = kept.sum()
    p = torch.nan_to_num(torch.softmax(logits, -1), nan=0.0)
    one_hot = torch.zeros_like(p).scatter_(1, targets.clamp(min=0)[:, None], 1.0)
    gradient = torch.where(kept[:, None], p - one_hot, torch.zeros_like(p))
    return gradient / torch.where(count == 0, torch.ones_like(count), count)


class AttentionFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, queries, keys, values, causal):
        ctx.wanted = [tensor.requires_grad for tensor in (queries, keys, values)]
        context, weights = attention_forward(queries, keys, values, causal)
        ctx.save_for_backward(queries, keys, values, weights)
        return context

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_context):
        queries, keys, values, weights = ctx.saved_tensors
        dq = dk = dv = None
        if ctx.wanted[0] or ctx.wanted[1]:
            grad_scores = _grad_scores(values, weights, grad_context)
            dq = grad_scores @ keys if ctx.wanted[0] else None
            dk = grad_scores.mT @ queries if ctx.wanted[1] else None
        if ctx.wanted[2]:
            dv = weights.mT @ grad_context
        return dq, dk, dv, None
