"""Exercise 08: self-attention with linear layers, for one sequence or a batch of them."""

import torch
from torch import nn


class SelfAttention_v2(nn.Module):
    """Self-attention: one head, no mask, nn.Linear layers as weights.

    Args:
        d_in: size of a token's embedding.
        d_out: size of a query, a key and a value, and so of a context vector.
        qkv_bias: whether the three layers have a bias.
    """

    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False):
        # Task 1: W_query, W_key, W_value, created in this order: an nn.Linear each, with a bias if qkv_bias says so.
        super().__init__()
        raise NotImplementedError

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The context vectors of one sequence, or of each sequence of a batch.

        Args:
            x: token embeddings, shape (T, d_in) or (B, T, d_in).

        Returns:
            context vectors, shape (T, d_out) or (B, T, d_out).
        """
        # Task 2: as in exercise 07, with the three layers.
        # Task 3: the same lines for a batch: a sequence attends only to its own tokens.
        raise NotImplementedError


def weights_for_v1(sa_v2: SelfAttention_v2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The weights with which exercise 07's class gives the same context vectors as sa_v2.

    Args:
        sa_v2: a layer without bias; it is not changed.

    Returns:
        (W_query, W_key, W_value), each of shape (d_in, d_out), for x @ W.
    """
    # Task 4: a linear layer keeps its weight as (d_out, d_in) and computes x @ weight.T.
    raise NotImplementedError
