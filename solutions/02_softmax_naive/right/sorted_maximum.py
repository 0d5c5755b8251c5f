"""The maximum by topk, the sum as a matrix product with ones, and an autograd function of one's own."""

import torch


class StableSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        largest = torch.topk(x, 1, dim=dim).values
        parts = (x - largest).exp()
        result = parts / parts.sum(dim=dim, keepdim=True)
        ctx.save_for_backward(result)
        ctx.dim = dim
        return result

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        inner = (grad * result).sum(dim=ctx.dim, keepdim=True)
        return result * (grad - inner), None


def normalize_by_sum(scores):
    return scores / (scores @ torch.ones_like(scores))


def softmax_naive(x):
    parts = x.exp()
    flat = parts.reshape(parts.shape[0], -1)
    total = torch.ones_like(flat[:, 0]) @ flat
    return (flat / total).reshape(x.shape)


def softmax_stable(x, dim=-1):
    return StableSoftmax.apply(x, dim)
