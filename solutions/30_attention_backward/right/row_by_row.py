"""Loops over rows, queries and predictions; hidden places are left out of the sums."""

import torch


def softmax_backward(weights, grad_weights):
    rows, arriving = weights.detach().reshape(-1, weights.shape[-1]), grad_weights.detach()
    arriving = arriving.reshape(-1, weights.shape[-1])
    result = torch.zeros_like(rows)
    for i in range(len(rows)):
        seen = rows[i] != 0
        p, g = rows[i][seen], arriving[i][seen]
        result[i, seen] = p * g - p * torch.dot(p, g)
    return result.reshape(weights.shape)


def attention_forward(queries, keys, values, causal=False):
    with torch.no_grad():
        B, H, T, h = queries.shape
        weights = queries.new_zeros(B, H, T, T)
        for i in range(T):
            last = i + 1 if causal else T
            scores = (keys[:, :, :last] * queries[:, :, i, None]).sum(-1) / h**0.5
            weights[:, :, i, :last] = torch.softmax(scores, -1)
        return torch.matmul(weights, values), weights


def attention_backward(queries, keys, values, weights, grad_context):
    with torch.no_grad():
        T, h = queries.shape[-2:]
        grad_queries, grad_keys, grad_values = (torch.zeros_like(tensor) for tensor in (queries, keys, values))
        for i in range(T):
            row = weights[:, :, i]  # (B, H, T)
            arriving = grad_context[:, :, i, None]  # (B, H, 1, h)
            grad_values += row[..., None] * arriving
            grad_scores = softmax_backward(row, (arriving * values).sum(-1)) / h**0.5
            grad_queries[:, :, i] = (grad_scores[..., None] * keys).sum(-2)
            grad_keys += grad_scores[..., None] * queries[:, :, i, None]
        return grad_queries, grad_keys, grad_values


def row_products(context, grad_context):
    with torch.no_grad():
        return torch.stack([(a * b).sum(-1) for a, b in zip(context.unbind(2), grad_context.unbind(2))], dim=2)


def cross_entropy_backward(logits, targets):
    with torch.no_grad():
        gradient = torch.zeros_like(logits)
        kept = [i for i, target in enumerate(targets.tolist()) if target != -100]
        for i in kept:
            gradient[i] = torch.softmax(logits[i], dim=0) / len(kept)
            gradient[i, targets[i]] -= 1 / len(kept)
        return gradient


class AttentionFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, queries, keys, values, causal=False):
        out, weights = attention_forward(queries, keys, values, causal)
        ctx.save_for_backward(queries, keys, values, weights)
        return out

    @staticmethod
    def backward(ctx, grad_context):
        dq, dk, dv = attention_backward(*ctx.saved_tensors, grad_context)
        return (
            dq if ctx.needs_input_grad[0] else None,
            dk if ctx.needs_input_grad[1] else None,
            dv if ctx.needs_input_grad[2] else None,
            None,
        )
