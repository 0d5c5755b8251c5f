"""The inputs are detached, or read through .data: no gradient reaches them, so layers before this one would never learn."""

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
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))  # (d_in, d_out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The context vectors of one sequence.

        Args:
            x: token embeddings, shape (T, d_in).

        Returns:
            context vectors, shape (T, d_out); row i belongs to token i.
        """
        # Task 2: queries, keys, values; scores; scaled weights; context vectors.
        x = x.detach()  # (T, d_in)
        queries = x @ self.W_query  # (T, d_out)
        keys = x @ self.W_key  # (T, d_out)
        values = x @ self.W_value  # (T, d_out)
        scores = queries @ keys.T  # (T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (T, T), rows sum to 1
        return weights @ values  # (T, T) @ (T, d_out) -> (T, d_out)
