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
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        future = torch.triu(torch.ones(context_length, context_length, dtype=torch.bool), diagonal=1)
        self.register_buffer("future", future, persistent=False)  # (context_length, context_length)

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
        tokens, most = x.shape[1], self.future.shape[0]
        if tokens > most:
            raise ValueError(f"{tokens} tokens are more than the context length of {most}")
        queries = self.W_query(x)  # (B, T, d_out)
        keys = self.W_key(x)  # (B, T, d_out)
        values = self.W_value(x)  # (B, T, d_out)
        scores = queries @ keys.mT  # (B, T, T)
        scores = scores.masked_fill(self.future[:tokens, :tokens], -torch.inf)  # (B, T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, T, T)
        weights = self.dropout(weights)  # (B, T, T)
        return weights @ values  # (B, T, T) @ (B, T, d_out) -> (B, T, d_out)


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
        self.heads = nn.ModuleList(
            CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The context vectors of all heads, the first head's first.

        Args:
            x: token embeddings, shape (B, T, d_in).

        Returns:
            context vectors, shape (B, T, num_heads * d_out).
        """
        # Task 4: every head reads x; put their outputs side by side.
        return torch.cat([head(x) for head in self.heads], dim=-1)  # (B, T, num_heads * d_out)
