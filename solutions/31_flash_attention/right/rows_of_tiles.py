"""Style: a whole row of tiles at once, safe softmax for each block of queries; no tile is skipped; masks by triu."""

import torch
from torch import Tensor


class Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query: Tensor, keys: Tensor, values: Tensor, block_size: int, causal: bool) -> Tensor:
        output = torch.empty_like(values)
        total = torch.empty_like(query[..., 0])
        for start, part in enumerate_blocks(query, block_size):
            scores = scores_of(part, keys, start, causal)
            total[..., start : start + block_size] = torch.logsumexp(scores, dim=-1)
            output[..., start : start + block_size, :] = scores.softmax(dim=-1) @ values
        ctx.save_for_backward(query, keys, values, output, total)
        ctx.block_size, ctx.causal = block_size, causal
        return output

    @staticmethod
    def backward(ctx, grad_output: Tensor):
        gradients = flash_attention_backward(*ctx.saved_tensors, grad_output, ctx.block_size, ctx.causal)
        return gradients[0], gradients[1], gradients[2], None, None


def enumerate_blocks(x: Tensor, block_size: int):
    start = 0
    for part in x.split(block_size, dim=-2):
        yield start, part
        start += block_size


def scores_of(part: Tensor, keys: Tensor, start: int, causal: bool) -> Tensor:
    scores = part @ keys.transpose(-1, -2) * part.shape[-1] ** -0.5
    if causal:
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(start + 1)
        scores = scores.masked_fill(future, -torch.inf)
    return scores


def flash_attention(query: Tensor, keys: Tensor, values: Tensor, block_size: int = 64, causal: bool = False) -> Tensor:
    return Rows.apply(query, keys, values, block_size, causal)


def flash_attention_backward(query, keys, values, output, logsumexp, grad_output, block_size=64, causal=False):
    grad_query, grad_keys, grad_values = [], 0, 0
    for start, part in enumerate_blocks(query, block_size):
        here = slice(start, start + block_size)
        weights = torch.exp(scores_of(part, keys, start, causal) - logsumexp[..., here].unsqueeze(-1))
        above = grad_output[..., here, :]
        inner = above @ values.transpose(-1, -2) - (above * output[..., here, :]).sum(-1, keepdim=True)
        inner = inner * weights * part.shape[-1] ** -0.5
        grad_query.append(inner @ keys)
        grad_keys = grad_keys + inner.transpose(-1, -2) @ part
        grad_values = grad_values + weights.transpose(-1, -2) @ above
    return torch.cat(grad_query, dim=-2), grad_keys, grad_values
