"""torch's own attention on the way forward, logsumexp in place of softmax, and setup_context."""

import torch
import torch.nn.functional as F


def softmax_backward(weights, grad_weights):
    weights = weights.detach()
    grad_weights = grad_weights.detach() * 1  # a copy, which may be changed
    grad_weights[weights == 0] = 0
    product = grad_weights.mul_(weights)
    return product - weights * product.sum(-1, keepdim=True)


def attention_forward(queries, keys, values, causal=False):
    queries, keys, values = [t.detach() for t in (queries, keys, values)]
    context = F.scaled_dot_product_attention(queries, keys, values, is_causal=causal)
    scores = torch.matmul(queries / queries.size(-1) ** 0.5, keys.transpose(-2, -1))
    if causal:
        scores = scores + torch.full_like(scores[0, 0], -torch.inf).triu(1)
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    return context, weights


def attention_backward(queries, keys, values, weights, grad_context):
    q, k, v, p, do = (t.detach() for t in (queries, keys, values, weights, grad_context))
    root = q.size(-1) ** 0.5
    ds = softmax_backward(p, do @ v.transpose(-2, -1))
    return ds @ k / root, ds.transpose(-2, -1) @ q / root, p.transpose(-2, -1) @ do


def row_products(context, grad_context):
    return (context.detach()[..., None, :] @ grad_context.detach()[..., None])[..., 0, 0]


def cross_entropy_backward(logits, targets):
    logits = logits.detach()
    valid = (targets != -100).nonzero()[:, 0]
    gradient = torch.zeros_like(logits)
    if len(valid):
        part = F.log_softmax(logits[valid], dim=-1).exp()
        part[torch.arange(len(valid), device=logits.device), targets[valid]] -= 1
        gradient[valid] = part / len(valid)
    return gradient


class AttentionFunction(torch.autograd.Function):
    @staticmethod
    def forward(queries, keys, values, causal):
        return F.scaled_dot_product_attention(queries, keys, values, is_causal=causal)

    @staticmethod
    def setup_context(ctx, inputs, output):
        queries, keys, values, ctx.causal = inputs
        ctx.save_for_backward(queries, keys, values)

    @staticmethod
    def backward(ctx, grad_context):
        queries, keys, values = ctx.saved_tensors
        weights = attention_forward(queries, keys, values, ctx.causal)[1]
        gradients = attention_backward(queries, keys, values, weights, grad_context)
        return tuple(g if n else None for g, n in zip(gradients, ctx.needs_input_grad)) + (None,)
