"""The whole Jacobian of each row as a matrix, under no_grad."""

import torch


@torch.no_grad()
def softmax_backward(weights, grad_weights):
    jacobian = torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]
    arriving = torch.where(weights == 0, torch.zeros_like(grad_weights), grad_weights)
    return (jacobian @ arriving[..., None]).squeeze(-1)


@torch.no_grad()
def attention_forward(queries, keys, values, causal=False):
    scores = torch.einsum("bhqi,bhki->bhqk", queries, keys) * queries.shape[-1] ** -0.5
    if causal:
        places = torch.arange(scores.shape[-1], device=scores.device)
        scores = torch.where(places <= places[:, None], scores, float("-inf"))
    weights = scores.softmax(-1)
    return torch.einsum("bhqk,bhki->bhqi", weights, values), weights


@torch.no_grad()
def attention_backward(queries, keys, values, weights, grad_context):
    scale = queries.shape[-1] ** -0.5
    grad_scores = scale * softmax_backward(weights, torch.einsum("bhqi,bhki->bhqk", grad_context, values))
    return [
        torch.einsum("bhqk,bhki->bhqi", grad_scores, keys),
        torch.einsum("bhqk,bhqi->bhki", grad_scores, queries),
        torch.einsum("bhqk,bhqi->bhki", weights, grad_context),
    ]


@torch.no_grad()
def row_products(context, grad_context):
    return torch.einsum("bhti,bhti->bht", context, grad_context)


@torch.no_grad()
def cross_entropy_backward(logits, targets):
    ignored = targets.eq(-100)
    one_hot = torch.nn.functional.one_hot(targets.masked_fill(ignored, 0), logits.size(1)).to(logits)
    gradient = (logits.softmax(1) - one_hot) / max(1, int((~ignored).sum()))
    return torch.where(ignored.unsqueeze(1), torch.zeros_like(gradient), gradient)


class AttentionFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, queries, keys, values, causal):
        ctx.causal = causal
        ctx.save_for_backward(queries, keys, values)
        return attention_forward(queries, keys, values, causal)[0]

    @staticmethod
    def backward(ctx, grad_context):
        queries, keys, values = ctx.saved_tensors
        _, weights = attention_forward(queries, keys, values, ctx.causal)
        results = list(attention_backward(queries, keys, values, weights, grad_context))
        for place in range(3):
            if not ctx.needs_input_grad[place]:
                results[place] = None
        return results[0], results[1], results[2], None
