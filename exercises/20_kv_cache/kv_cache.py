"""Exercise 20: the KV cache. Attention that keeps keys and values, so that a new token costs one token's work."""

import torch
from torch import nn

Cache = tuple[torch.Tensor, torch.Tensor]  # keys and values, each (B, H, T_so_far, h)


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:  # given
    """Cut each token's numbers into one piece per head, and put the heads in front: (B, T, d) -> (B, H, T, d / H)."""
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def merge_heads(x: torch.Tensor) -> torch.Tensor:  # given
    """Undo split_heads: (B, H, T, h) -> (B, T, H * h)."""
    return x.transpose(1, 2).flatten(-2)


class CachedAttention(nn.Module):
    """Causal multi-head attention that can continue where an earlier call stopped.

    Parameters:
        W_query.weight, W_key.weight, W_value.weight: each (d_out, d_in).
        out_proj.weight, out_proj.bias: (d_out, d_out) and (d_out,).
    """

    def __init__(self, d_in: int, d_out: int, num_heads: int):
        """Draw the weights.

        Args:
            d_in: size of a token's embedding.
            d_out: size of the output; every head has h = d_out / num_heads of it.
            num_heads: how many heads, H; divides d_out.
        """
        # Task 1: W_query, W_key, W_value, out_proj, created in this order.
        super().__init__()
        raise NotImplementedError

    def forward(self, x: torch.Tensor, cache: Cache | None = None) -> tuple[torch.Tensor, Cache]:
        """The output for each new token, from itself and all tokens before it.

        Args:
            x: embeddings of the new tokens only, shape (B, T, d_in).
            cache: what the call for the earlier tokens returned: keys and values, each (B, H, T_past, h); None if there
                are no earlier tokens. Don't change it.

        Returns:
            output for the new tokens, shape (B, T, d_out).
            keys and values of all tokens so far, each (B, H, T_past + T, h).
        """
        # Task 1: exercise 13 without dropout; return the output, and keys and values with it.
        # Task 2: append the new keys and values to those of the cache; a new token sees all of the past.
        raise NotImplementedError
