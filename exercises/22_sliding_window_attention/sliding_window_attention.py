"""Exercise 22: sliding window attention. Each token looks at itself and at the few tokens before it."""

import torch


def sliding_window_mask(T: int, window: int) -> torch.Tensor:
    """Which token may attend to which: to itself and to the window − 1 before it.

    Args:
        T: the number of tokens.
        window: how many tokens each may attend to, itself included; at least 1, and it may exceed T.

    Returns:
        bool tensor of shape (T, T), True where the row's token may attend to the column's, on the CPU.
    """
    # Task 1: how far is each column's token behind the row's?
    raise NotImplementedError


def sliding_window_attention(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, window: int
) -> torch.Tensor:
    """Scaled dot-product attention in which each token attends to itself and to the window − 1 tokens before it.

    Args:
        query: shape (B, H, T, h).
        keys: shape (B, H, T, h).
        values: shape (B, H, T, h).
        window: how many tokens each may attend to, itself included; at least 1, and it may exceed T.

    Returns:
        the context vectors, shape (B, H, T, h). The memory grows with T · window, never with T · T.
    """
    # Task 2: scores over √h, the mask, softmax, values. Task 3: a block of queries needs only the keys near it.
    raise NotImplementedError
