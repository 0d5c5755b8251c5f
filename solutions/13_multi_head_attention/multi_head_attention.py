"""Exercise 13: multi-head attention, all heads in one product."""

import torch
from torch import nn


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Cut each token's numbers into one piece per head, and put the heads in front of the tokens.

    Args:
        x: tokens, shape (B, T, d); num_heads divides d.
        num_heads: how many heads, H.

    Returns:
        the pieces, shape (B, H, T, d / H); head 0 has the first d / H numbers of each token.
    """
    # Task 1: two steps: cut, then swap two dimensions.
    pieces = x.reshape(x.shape[0], x.shape[1], num_heads, -1)  # (B, T, H, d / H)
    return pieces.transpose(1, 2)  # (B, H, T, d / H)


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """Put the heads' pieces of each token side by side again: undoes split_heads.

    Args:
        x: one piece per head and token, shape (B, H, T, h).

    Returns:
        tokens, shape (B, T, H * h); the numbers of head 0 come first.
    """
    # Task 1: the two steps back, in the opposite order.
    return x.transpose(1, 2).flatten(-2)  # (B, T, H, h) -> (B, T, H * h)


def project_heads(inputs: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Project the same tokens with the weights of several heads, in one product.

    Args:
        inputs: tokens, shape (T, d).
        weights: one matrix for each head, shape (H, h, d), where h is the size of one head.

    Returns:
        each head's projections, shape (H, T, h).
    """
    # Task 2: no loop over the heads.
    return inputs @ weights.mT  # (T, d) @ (H, d, d_out) -> (H, T, d_out)


class MultiHeadAttention(nn.Module):
    """Causal self-attention with several heads that share one set of layers.

    Parameters:
        W_query.weight, W_key.weight, W_value.weight: each (d_out, d_in).
        W_query.bias, W_key.bias, W_value.bias: each (d_out,), only with qkv_bias=True.
        out_proj.weight, out_proj.bias: (d_out, d_out) and (d_out,).
    """

    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ):
        """Draw the weights.

        Args:
            d_in: size of a token's embedding.
            d_out: size of the output; every head has d_out / num_heads of it.
            context_length: the most tokens of one sequence.
            dropout: the share of attention weights set to 0 in training, at least 0 and below 1.
            num_heads: how many heads.
            qkv_bias: whether W_query, W_key and W_value have a bias.

        Raises:
            ValueError: num_heads does not divide d_out.
        """
        # Task 3: num_heads must divide d_out; W_query, W_key, W_value, out_proj, created in this order; the mask.
        # Task 4: the dropout.
        super().__init__()
        if d_out % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {d_out} dimensions evenly")
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        future = torch.ones(context_length, context_length, dtype=torch.bool).triu(1)
        self.register_buffer("future", future, persistent=False)  # (context_length, context_length)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The output for each token, from itself and the tokens before it.

        Args:
            x: token embeddings, shape (B, T, d_in), T at most context_length.

        Returns:
            output, shape (B, T, d_out).
        """
        # Task 3: project, split, score, mask, scale by the size of one head, softmax, mix the values, merge, out_proj.
        # Task 4: dropout on the attention weights.
        tokens = x.shape[1]
        queries = split_heads(self.W_query(x), self.num_heads)  # (B, H, T, h) with h = d_out / H
        keys = split_heads(self.W_key(x), self.num_heads)  # (B, H, T, h)
        values = split_heads(self.W_value(x), self.num_heads)  # (B, H, T, h)
        scores = queries @ keys.mT  # (B, H, T, h) @ (B, H, h, T) -> (B, H, T, T)
        scores = scores.masked_fill(self.future[:tokens, :tokens], -torch.inf)  # (B, H, T, T)
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (B, H, T, T), rows sum to 1
        weights = self.dropout(weights)  # (B, H, T, T)
        return self.out_proj(merge_heads(weights @ values))  # (B, H, T, h) -> (B, T, d_out)
