"""Exercise 19: rotary position embedding. Queries and keys are turned by angles that grow with their position."""

import torch


def rope_angles(head_dim: int, context_length: int, base: float = 10_000.0) -> tuple[torch.Tensor, torch.Tensor]:
    """The cosine and the sine of every position's angles, in the half layout: the second half repeats the first.

    Args:
        head_dim: size of one head, h; even.
        context_length: how many positions, T; they count from 0.
        base: pair i turns by base to the power of −2i / h radians from one position to the next.

    Returns:
        cos and sin, each of shape (context_length, head_dim), float32, on the CPU.
    """
    # Task 1: one frequency for each pair, then one angle for each position and pair, then both halves alike.
    exponents = torch.arange(0, head_dim, 2) / head_dim  # (h / 2,): 0, 2/h, 4/h, …
    frequencies = 1.0 / base**exponents  # (h / 2,)
    positions = torch.arange(context_length)  # (T,)
    angles = positions[:, None] * frequencies  # (T, 1) * (h / 2,) -> (T, h / 2)
    angles = torch.cat([angles, angles], dim=-1)  # (T, h)
    return torch.cos(angles), torch.sin(angles)  # (T, h), (T, h)


def apply_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, offset: int = 0) -> torch.Tensor:
    """Turn each token's pairs of numbers (i, i + h / 2) by the angles of its position.

    Args:
        x: queries or keys, shape (B, H, T, h).
        cos: from rope_angles, shape (context_length, h).
        sin: from rope_angles, shape (context_length, h).
        offset: the position of the first token of x; offset + T is at most context_length.

    Returns:
        the turned queries or keys, of the shape and the dtype of x.
    """
    # Task 2: each half takes its part of the other half.
    # Task 3: the rows of cos and sin that belong to these tokens.
    tokens, half = x.shape[-2], x.shape[-1] // 2
    cos, sin = cos[offset : offset + tokens], sin[offset : offset + tokens]  # (T, h) each
    first, second = x[..., :half], x[..., half:]  # (B, H, T, h / 2) each
    other = torch.cat([-second, first], dim=-1)  # (B, H, T, h)
    return (x * cos + other * sin).to(x.dtype)  # (B, H, T, h)
