"""Exercise 16: cross-attention. The queries come from one sequence, keys and values from another."""

import torch
from torch import nn


class CrossAttention(nn.Module):
    """Attention of one sequence to another: one head, no mask.

    Args:
        d_in: size of a token's embedding, in both sequences.
        d_out_kq: size of a query and of a key.
        d_out_v: size of a value, and so of a context vector.
    """

    def __init__(self, d_in: int, d_out_kq: int, d_out_v: int):
        # Task 1: W_query, W_key, W_value, drawn in this order: an nn.Parameter of torch.rand each.
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out_kq))  # (d_in, d_out_kq)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out_kq))  # (d_in, d_out_kq)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out_v))  # (d_in, d_out_v)

    def forward(self, x_1: torch.Tensor, x_2: torch.Tensor) -> torch.Tensor:
        """One context vector for each token of x_1, mixed from the values of x_2.

        Args:
            x_1: the sequence that asks, shape (T_1, d_in).
            x_2: the sequence that is looked at, shape (T_2, d_in).

        Returns:
            context vectors, shape (T_1, d_out_v); row i belongs to token i of x_1.
        """
        # Task 2: queries of x_1, keys and values of x_2; scaled weights; context vectors.
        queries = x_1 @ self.W_query  # (T_1, d_out_kq)
        keys = x_2 @ self.W_key  # (T_2, d_out_kq)
        values = x_2 @ self.W_value  # (T_2, d_out_v)
        scores = queries @ keys.T  # (T_1, T_2)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (T_1, T_2), rows sum to 1
        return weights @ values  # (T_1, T_2) @ (T_2, d_out_v) -> (T_1, d_out_v)
