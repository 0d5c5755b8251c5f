"""Exercise 27: linear attention and the gated delta rule. A state of fixed size takes the place of all past tokens."""

import torch
from torch.nn import functional as F


def feature_map(x: torch.Tensor) -> torch.Tensor:
    """φ(x) = elu(x) + 1, which is positive everywhere: eˣ below 0, and x + 1 from 0 upward.

    Args:
        x: any shape.

    Returns:
        the shape of x. The numbers and their gradients are finite for x from −10,000 to 10,000.
    """
    # Task 1: e to the power of x below 0, x + 1 above.
    raise NotImplementedError


def linear_attention(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Attention whose weights are φ(q) · φ(k) over their sum: every query sees every key.

    Args:
        queries: shape (B, H, T_q, h), without φ.
        keys: shape (B, H, T_k, h), without φ.
        values: shape (B, H, T_k, d_v).

    Returns:
        shape (B, H, T_q, d_v). No table of T_q × T_k is made.
    """
    # Task 2: which two factors may be multiplied first?
    raise NotImplementedError


def linear_step(
    state: tuple[torch.Tensor, torch.Tensor] | None, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """One token of causal linear attention: it joins the state, and then its query reads the state.

    Args:
        state: None before the first token; else a tuple (sums, normalizer) of shapes (B, H, h, d_v) and (B, H, h).
        query: shape (B, H, h), without φ.
        key: shape (B, H, h), without φ.
        value: shape (B, H, d_v).

    Returns:
        the output, shape (B, H, d_v), and the new state, a tuple as above.
    """
    # Task 3: add what the token brings, then read.
    raise NotImplementedError


def causal_linear_attention(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, chunk_size: int = 64
) -> torch.Tensor:
    """Causal linear attention, chunk by chunk: what linear_step gives token by token.

    Args:
        queries: shape (B, H, T, h), without φ.
        keys: shape (B, H, T, h), without φ.
        values: shape (B, H, T, d_v).
        chunk_size: how many tokens are taken at once; at least 1, and it need not divide T.

    Returns:
        shape (B, H, T, d_v).
    """
    # Task 4: the state holds the chunks before; a small table holds the chunk itself.
    raise NotImplementedError


def gated_delta_step(
    state: torch.Tensor | None,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    log_decay: torch.Tensor,
    beta: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """One token of the gated delta rule: the state fades, is corrected at the key, and is read at the query.

    Args:
        state: None (zeros) before the first token; else shape (B, H, h, d_v).
        query: shape (B, H, h), taken as it is.
        key: shape (B, H, h), taken as it is.
        value: shape (B, H, d_v).
        log_decay: shape (B, H), 0 or less: the state is multiplied by e to this power.
        beta: shape (B, H), from 0 to 1: how much of the difference is corrected.

    Returns:
        the output, shape (B, H, d_v), and the new state, shape (B, H, h, d_v).
    """
    # Task 5: fade, compare, correct, read.
    raise NotImplementedError


def gated_delta_rule(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    log_decays: torch.Tensor,
    betas: torch.Tensor,
    chunk_size: int = 64,
    state: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gated delta rule, chunk by chunk: what gated_delta_step gives token by token.

    Args:
        queries: shape (B, H, T, h), taken as they are.
        keys: shape (B, H, T, h), taken as they are.
        values: shape (B, H, T, d_v).
        log_decays: shape (B, H, T), 0 or less.
        betas: shape (B, H, T), from 0 to 1.
        chunk_size: how many tokens are taken at once; at least 1, and it need not divide T.
        state: None (zeros), or shape (B, H, h, d_v): what the tokens before have left.

    Returns:
        the outputs, shape (B, H, T, d_v), and the last state, shape (B, H, h, d_v).
    """
    # Task 6: all corrections of a chunk at once, from a triangular system.
    raise NotImplementedError
