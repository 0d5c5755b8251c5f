"""Exercise 17: fused attention. Multi-head attention with one projection and torch's one function for the rest."""

import torch
from torch import nn
from torch.nn import functional as F


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:  # given
    """Cut each token's numbers into one piece per head, and put the heads in front: (B, T, d) -> (B, H, T, d / H)."""
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def merge_heads(x: torch.Tensor) -> torch.Tensor:  # given
    """Undo split_heads: (B, H, T, h) -> (B, T, H * h)."""
    return x.transpose(1, 2).flatten(-2)


class FusedMultiHeadAttention(nn.Module):
    """The layer of exercise 13 in two products and one call of torch's fused attention.

    Parameters:
        qkv.weight: (3 * d_out, d_in), the rows of W_query, W_key and W_value in an order of your choice.
        qkv.bias: (3 * d_out,), only with qkv_bias=True.
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
            num_heads: how many heads; divides d_out.
            qkv_bias: whether qkv has a bias.
        """
        # Task 1: qkv, out_proj, created in this order.
        super().__init__()
        raise NotImplementedError

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The output for each token, from itself and the tokens before it.

        Args:
            x: token embeddings, shape (B, T, d_in), T at most context_length.

        Returns:
            output, shape (B, T, d_out).
        """
        # Task 1: project once, cut into three, split into heads, call the fused function, merge, out_proj.
        # Task 3: dropout, but only in training.
        raise NotImplementedError

    def load_unfused(self, state_dict: dict[str, torch.Tensor]) -> None:
        """Take over the parameters of a layer of exercise 13, which then gives the same output as this one.

        Args:
            state_dict: what `state_dict()` of a MultiHeadAttention with the same sizes gives: W_query.weight,
                W_key.weight, W_value.weight, each (d_out, d_in), their biases (d_out,) with qkv_bias, and
                out_proj.weight, out_proj.bias. Other entries (a mask) are ignored. It is not changed.
        """
        # Task 2: put the rows where forward looks for them, and copy out_proj.
        raise NotImplementedError
