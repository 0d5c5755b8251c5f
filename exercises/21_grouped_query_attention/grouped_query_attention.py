"""Exercise 21: grouped-query attention. Several heads of queries share one head of keys and values."""

import torch
from torch import nn


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:  # given
    """Cut each token's numbers into one piece per head, and put the heads in front: (B, T, d) -> (B, H, T, d / H)."""
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def merge_heads(x: torch.Tensor) -> torch.Tensor:  # given
    """Undo split_heads: (B, H, T, h) -> (B, T, H * h)."""
    return x.transpose(1, 2).flatten(-2)


def repeat_kv(x: torch.Tensor, repeats: int) -> torch.Tensor:
    """Repeat each head of keys or values, with the copies of one head side by side.

    Args:
        x: keys or values, shape (B, G, T, h).
        repeats: how many copies of each head.

    Returns:
        the copies, shape (B, G * repeats, T, h): head 0, head 0, …, head 1, head 1, …
    """
    # Task 1: the copies of one head are next to each other.
    raise NotImplementedError


class GroupedQueryAttention(nn.Module):
    """Causal self-attention whose heads of keys and values each serve a group of query heads.

    Parameters, with h = d_out / num_heads:
        W_query.weight: (d_out, d_in).
        W_key.weight, W_value.weight: each (num_kv_groups * h, d_in).
        out_proj.weight, out_proj.bias: (d_out, d_out) and (d_out,).
    """

    def __init__(self, d_in: int, d_out: int, num_heads: int, num_kv_groups: int):
        """Draw the weights.

        Args:
            d_in: size of a token's embedding.
            d_out: size of the output; every head has d_out / num_heads of it.
            num_heads: how many heads of queries, H.
            num_kv_groups: how many heads of keys and of values, G.

        Raises:
            ValueError: num_heads does not divide d_out, or num_kv_groups does not divide num_heads.
        """
        # Task 2: check that the sizes divide; W_query, W_key, W_value, out_proj, created in this order.
        super().__init__()
        raise NotImplementedError

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The output for each token, from itself and the tokens before it.

        Args:
            x: token embeddings, shape (B, T, d_in).

        Returns:
            output, shape (B, T, d_out).
        """
        # Task 2: project, split, repeat keys and values, score, mask, scale by √h, softmax, mix, merge, out_proj.
        raise NotImplementedError
