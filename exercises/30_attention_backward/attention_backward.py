"""Exercise 30: the backward pass of attention, written by hand. Nothing in this file asks autograd for a gradient."""

import torch


def softmax_backward(weights: torch.Tensor, grad_weights: torch.Tensor) -> torch.Tensor:
    """The gradient of the scores, where weights = softmax(scores) over the last dimension.

    Args:
        weights: shape (…, T), each row sums to 1; a weight may be exactly 0.
        grad_weights: the gradient that reaches the weights, shape (…, T); anything, even NaN, where a weight is 0.

    Returns:
        the gradient of the scores, shape (…, T), without a graph; exactly 0 where a weight is exactly 0.
    """
    # Task 1: how much does each entry differ from the weighted mean of its row?
    raise NotImplementedError


def attention_forward(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scaled dot-product attention, and the weights that the backward pass will need.

    Args:
        queries: shape (B, H, T, h).
        keys: shape (B, H, T, h).
        values: shape (B, H, T, h).
        causal: whether a token attends only to itself and to the tokens before it.

    Returns:
        the context vectors, shape (B, H, T, h), and the weights, shape (B, H, T, T), both without a graph.
    """
    # Task 2: scores over √h, the mask, softmax, values; no graph is kept.
    raise NotImplementedError


def attention_backward(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    weights: torch.Tensor,
    grad_context: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The gradients of attention, from the weights that the forward pass kept.

    Args:
        queries: shape (B, H, T, h).
        keys: shape (B, H, T, h).
        values: shape (B, H, T, h).
        weights: from attention_forward, causal or not, shape (B, H, T, T).
        grad_context: the gradient that reaches the context vectors, shape (B, H, T, h).

    Returns:
        the gradients of queries, keys and values, each of shape (B, H, T, h), finite and without a graph.
    """
    # Task 3: walk back through the forward pass, one step at a time: values, weights, scores, queries and keys.
    raise NotImplementedError


def row_products(context: torch.Tensor, grad_context: torch.Tensor) -> torch.Tensor:
    """One number for each query: the sum of weights · grad_weights over its row, found without either of them.

    Args:
        context: shape (B, H, T, h).
        grad_context: the gradient that reaches the context vectors, shape (B, H, T, h).

    Returns:
        shape (B, H, T), without a graph.
    """
    # Task 4: what is left of the row sum once the values are summed up first?
    raise NotImplementedError


def cross_entropy_backward(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The gradient of the mean cross-entropy. Targets of −100 are ignored.

    Args:
        logits: shape (N, V).
        targets: shape (N,), int64; from 0 to V − 1, or −100.

    Returns:
        the gradient of the logits, shape (N, V), without a graph; a row of zeros for each ignored target.
    """
    # Task 5: softmax minus one-hot, over the number of targets that count.
    raise NotImplementedError


class AttentionFunction(torch.autograd.Function):
    """Attention as autograd sees it: one operation, with your backward pass."""

    @staticmethod
    def forward(ctx, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, causal: bool) -> torch.Tensor:
        """The context vectors (B, H, T, h); `ctx` keeps what `backward` needs."""
        # Task 6: call attention_forward, and keep tensors with ctx.save_for_backward.
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_context: torch.Tensor):
        """One entry for each argument of forward: a gradient, or None where none is needed."""
        # Task 6: ctx.saved_tensors holds what was kept, ctx.needs_input_grad says who needs a gradient.
        raise NotImplementedError
