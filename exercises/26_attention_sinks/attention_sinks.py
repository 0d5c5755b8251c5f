"""Exercise 26: attention sinks. Where a head without work puts its attention, and a cache for texts without end."""

import torch
from torch import nn


def rope_angles(head_dim: int, context_length: int, base: float = 10_000.0) -> tuple[torch.Tensor, ...]:  # given
    """The cosine and the sine of the angles of positions 0 … context_length − 1, as in exercise 19: (T, h) each."""
    frequencies = base ** (-torch.arange(0, head_dim, 2) / head_dim)  # (h / 2,)
    angles = torch.arange(context_length)[:, None] * frequencies  # (T, h / 2)
    angles = torch.cat([angles, angles], dim=-1)  # (T, h)
    return torch.cos(angles), torch.sin(angles)


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:  # given
    """Rotate x (B, H, T, h), whose first token is at position `offset`, as in exercise 19: the same shape."""
    cos, sin = cos[offset : offset + x.shape[-2]], sin[offset : offset + x.shape[-2]]  # (T, h) each
    first, second = x.chunk(2, dim=-1)
    return (x * cos + torch.cat([-second, first], dim=-1) * sin).to(x.dtype)


def sink_softmax(scores: torch.Tensor, sinks: torch.Tensor) -> torch.Tensor:
    """Softmax over the keys and one score more for each head, its sink, whose weight is left out.

    Args:
        scores: shape (B, H, T_q, T_k); hidden scores are −inf.
        sinks: the score of each head's sink, shape (H,).

    Returns:
        weights of the keys, shape (B, H, T_q, T_k). Rows sum to at most 1; a row of nothing but −inf is all 0.
    """
    # Task 1: one column more in the softmax, one column less in the answer.
    raise NotImplementedError


class SinkAttention(nn.Module):
    """Causal self-attention, perhaps with a window, whose heads each have a learned sink.

    Parameters:
        W_query.weight, W_key.weight, W_value.weight: each (d_out, d_in).
        out_proj.weight: (d_out, d_out).
        sinks: (H,), zeros at first.
    """

    def __init__(self, d_in: int, d_out: int, num_heads: int, window: int | None = None):
        """Draw the weights.

        Args:
            d_in: size of a token's embedding.
            d_out: size of the output; every head has h = d_out / num_heads of it.
            num_heads: how many heads, H.
            window: how many tokens each may attend to, itself included; None for all tokens before it.

        Raises:
            ValueError: num_heads does not divide d_out, or the window is below 1.
        """
        # Task 2: raise the errors; W_query, W_key, W_value, out_proj, created in this order; the sinks.
        super().__init__()
        raise NotImplementedError

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The output for each token.

        Args:
            x: token embeddings, shape (B, T, d_in).

        Returns:
            output, shape (B, T, d_out).
        """
        # Task 2: heads, scores over √h, the causal mask and the window, sink_softmax, values, merge, out_proj.
        raise NotImplementedError


def kept_positions(num_seen: int, num_sinks: int, window: int) -> torch.Tensor:
    """The positions of a text that a streaming cache keeps.

    Args:
        num_seen: how many tokens there were so far, 0 or more.
        num_sinks: how many of the first tokens are kept for good, 0 or more.
        window: how many of the last tokens are kept, 1 or more.

    Returns:
        the positions, int64, 1-D and rising, on the CPU: the first num_sinks and the last window, each once.
    """
    # Task 3: which positions belong to the first, and which to the last?
    raise NotImplementedError


class StreamingCache:
    """A cache of keys and values that keeps the first tokens of a text and the last ones, and nothing in between.

    Attributes:
        keys, values: those of the kept tokens in the order of the text, each (B, H, kept, h). Keys are not rotated.
        num_seen: how many tokens were appended so far.
    """

    def __init__(self, num_sinks: int, window: int):
        """Begin empty.

        Args:
            num_sinks: how many of the first tokens are kept for good, 0 or more.
            window: how many of the last tokens are kept, 1 or more.

        Raises:
            ValueError: num_sinks is below 0, or the window below 1.
        """
        # Task 4: raise the errors; nothing is kept yet.
        raise NotImplementedError

    def __len__(self) -> int:
        """How many tokens are kept now."""
        # Task 4: 0 at the start.
        raise NotImplementedError

    def append(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Take in the keys and values of new tokens, and drop tokens that are no longer kept.

        Args:
            keys: of the new tokens, not rotated, shape (B, H, T, h); T may be larger than the window.
            values: of the new tokens, shape (B, H, T, h).
        """
        # Task 4: append the new ones to the old ones, then keep the first and the last.
        raise NotImplementedError


def streaming_attention(query: torch.Tensor, cache: StreamingCache, rope_theta: float = 10_000.0) -> torch.Tensor:
    """Attention of the newest token to all that the cache keeps, rotated by place in the cache.

    Args:
        query: of the newest token, not rotated, shape (B, H, 1, h). Its key and value are in the cache already.
        cache: the cache.
        rope_theta: the base of the rotation.

    Returns:
        what the token takes from the kept ones, shape (B, H, 1, h).
    """
    # Task 5: rotate keys by 0 … len − 1 and the query by len − 1, then attention as usual.
    raise NotImplementedError
