"""The weights are nn.Linear layers, which come in exercise 08: here they are an nn.Parameter of torch.rand(d_in, d_out) each."""

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
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The context vectors of one sequence.

        Args:
            x: token embeddings, shape (T, d_in).

        Returns:
            context vectors, shape (T, d_out); row i belongs to token i.
        """
        # Task 2: queries, keys, values; scores; scaled weights; context vectors.
        queries = self.W_query(x)  # (T, d_out)
        keys = self.W_key(x)  # (T, d_out)
        values = self.W_value(x)  # (T, d_out)
        scores = queries @ keys.T  # (T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (T, T), rows sum to 1
        return weights @ values  # (T, T) @ (T, d_out) -> (T, d_out)
