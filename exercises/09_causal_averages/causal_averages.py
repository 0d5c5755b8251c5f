"""Exercise 09: causal averages. Each token becomes the mean of itself and of all tokens before it."""

import torch


def average_loop(x: torch.Tensor) -> torch.Tensor:
    """The running averages of every sequence, computed token by token.

    Args:
        x: token embeddings, shape (B, T, d).

    Returns:
        averages, shape (B, T, d); row t is the mean of the rows 0 … t of the same sequence.
    """
    raise NotImplementedError


def averaging_weights(T: int) -> torch.Tensor:
    """How much each token counts in the average of each other token.

    Args:
        T: number of tokens.

    Returns:
        weights, shape (T, T); row t holds t + 1 equal numbers, then zeros, and sums to 1.
    """
    raise NotImplementedError


def average_matmul(x: torch.Tensor) -> torch.Tensor:
    """The running averages of every sequence, computed by one matrix product.

    Args:
        x: token embeddings, shape (B, T, d).

    Returns:
        averages, shape (B, T, d), the same as `average_loop`.
    """
    raise NotImplementedError


def average_softmax(x: torch.Tensor) -> torch.Tensor:
    """The running averages of every sequence, with weights from a softmax over masked zeros.

    Args:
        x: token embeddings, shape (B, T, d).

    Returns:
        averages, shape (B, T, d), the same as `average_loop`.
    """
    raise NotImplementedError
