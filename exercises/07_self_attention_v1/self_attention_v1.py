"""Exercise 07: self-attention as a module whose weight matrices can be trained."""

import torch
from torch import nn


class SelfAttention_v1(nn.Module):
    """Self-attention over one sequence: one head, no mask.

    Args:
        d_in: size of a token's embedding.
        d_out: size of a query, a key and a value, and so of a context vector.
    """

    def __init__(self, d_in: int, d_out: int):
        # Task 1: W_query, W_key, W_value, drawn in this order: an nn.Parameter of torch.rand(d_in, d_out) each.
        super().__init__()
        raise NotImplementedError

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The context vectors of one sequence.

        Args:
            x: token embeddings, shape (T, d_in).

        Returns:
            context vectors, shape (T, d_out); row i belongs to token i.
        """
        # Task 2: queries, keys, values; scores; scaled weights; context vectors.
        raise NotImplementedError
