"""Exercise 11: causal attention as a module, with dropout, and several heads side by side."""

import torch
from torch import nn


class CausalAttention(nn.Module):
    """Self-attention in which no token sees the tokens after it.

    Parameters:
        W_query.weight, W_key.weight, W_value.weight: each (d_out, d_in).
        W_query.bias, W_key.bias, W_value.bias: each (d_out,), only with qkv_bias=True.
    """

    def __init__(self, d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool = False):
        """Draw the weights and prepare the mask.

        Args:
            d_in: size of a token's embedding.
            d_out: size of queries, keys, values and context vectors.
            context_length: the most tokens of one sequence.
            dropout: the share of attention weights set to 0 in training, at least 0 and below 1.
            qkv_bias: whether the three layers have a bias.
        """
        # Task 1: the layers W_query, W_key, W_value, drawn in this order.
        # Task 2: the mask in a buffer.
        # Task 3: the dropout.
        super().__init__()
        raise NotImplementedError

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The context vector of each token, from itself and the tokens before it.

        Args:
            x: token embeddings, shape (B, T, d_in), T at most context_length.

        Returns:
            context vectors, shape (B, T, d_out).

        Raises:
            ValueError: T is greater than context_length.
        """
        # Task 1: scores, mask, scale, softmax, values.
        # Task 2: refuse too many tokens; cut the mask to the tokens at hand.
        # Task 3: dropout on the attention weights.
        raise NotImplementedError


class MultiHeadAttentionWrapper(nn.Module):
    """Several causal attentions that read the same tokens, with their outputs side by side.

    Parameters:
        heads.0.W_query.weight, heads.0.W_key.weight, … heads.1.W_query.weight, …
    """

    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ):
        """Make the heads, one after the other.

        Args:
            d_in: size of a token's embedding.
            d_out: size of the context vectors of one head.
            context_length: the most tokens of one sequence.
            dropout: the share of attention weights set to 0 in training, in every head.
            num_heads: how many heads.
            qkv_bias: whether the layers of the heads have a bias.
        """
        # Task 4: `heads`, a ModuleList.
        super().__init__()
        raise NotImplementedError

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The context vectors of all heads, the first head's first.

        Args:
            x: token embeddings, shape (B, T, d_in).

        Returns:
            context vectors, shape (B, T, num_heads * d_out).
        """
        # Task 4: every head reads x; put their outputs side by side.
        raise NotImplementedError
