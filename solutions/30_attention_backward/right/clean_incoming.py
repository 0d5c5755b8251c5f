"""Centred gradients: the weighted mean is taken off by a product; torch.nan_to_num cleans hidden places."""

import torch

IGNORED = -100


def softmax_backward(weights, grad_weights):
    w = weights.clone().detach()
    g = torch.nan_to_num(grad_weights.clone().detach(), nan=0.0, posinf=0.0, neginf=0.0)
    mean = torch.matmul(w.unsqueeze(-2), g.unsqueeze(-1)).squeeze(-1)
    return w * (g - mean)


def attention_forward(queries, keys, values, causal=False):
    scores = queries.data @ keys.data.permute(0, 1, 3, 2)
    scores /= torch.sqrt(torch.tensor(queries.shape[-1], dtype=scores.dtype, device=scores.device))
    if causal:
        T = scores.shape[-1]
        rows, columns = torch.triu_indices(T, T, offset=1, device=scores.device)
        scores[..., rows, columns] = -torch.inf
    weights = torch.nn.Softmax(dim=-1)(scores)
    return weights @ values.data, weights


def attention_backward(queries, keys, values, weights, grad_context):
    queries, keys, values = queries.data, keys.data, values.data
    weights, grad_context = weights.data, grad_context.data
    scaled = queries / queries.shape[-1] ** 0.5
    grad_values = torch.matmul(weights.transpose(-1, -2), grad_context)
    grad_scores = softmax_backward(weights, torch.matmul(grad_context, values.transpose(-1, -2)))
    grad_scaled = torch.matmul(grad_scores, keys)
    grad_keys = torch.matmul(grad_scores.transpose(-1, -2), scaled)
    return grad_scaled / queries.shape[-1] ** 0.5, grad_keys, grad_values


def row_products(context, grad_context):
    return torch.sum(torch.mul(context.data, grad_context.data), -1)


def cross_entropy_backward(logits, targets):
    scored = logits.data.clone()
    kept = targets.ne(IGNORED)
    scored[~kept] = 0.0
    gradient = torch.softmax(scored, dim=1)
    gradient -= torch.eye(logits.shape[1], dtype=logits.dtype, device=logits.device)[targets * kept]
    gradient *= kept.unsqueeze(1)
    return gradient / kept.sum() if kept.any() else gradient


class AttentionFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, causal):
        o, w = attention_forward(q, k, v, causal)
        ctx.save_for_backward(q, k, v)
        ctx.weights = w
        return o

    @staticmethod
    def backward(ctx, do):
        answers = attention_backward(*ctx.saved_tensors, ctx.weights, do)
        return *[answer if ctx.needs_input_grad[i] else None for i, answer in enumerate(answers)], None
