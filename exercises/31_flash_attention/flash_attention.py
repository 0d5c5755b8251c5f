"""Exercise 31: flash attention. Scores are made tile by tile and forgotten; for the gradients they are made again."""

import torch


def hide_future(scores: torch.Tensor, first_query: int, first_key: int) -> torch.Tensor:  # given
    """Put −inf in a tile of scores where the key comes after the query. The tile begins at these two positions."""
    rows = torch.arange(first_query, first_query + scores.shape[-2], device=scores.device)[:, None]  # (n, 1)
    columns = torch.arange(first_key, first_key + scores.shape[-1], device=scores.device)  # (m,)
    return scores.masked_fill(columns > rows, -torch.inf)  # (…, n, m)


def attention_and_logsumexp(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, block_size: int, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scaled dot-product attention in tiles of block_size queries by block_size keys.

    Args:
        query: shape (B, H, T, h).
        keys: shape (B, H, T, h).
        values: shape (B, H, T, h).
        block_size: size of the tiles; it need not divide T, and may be larger.
        causal: whether a token attends only to itself and to the tokens before it.

    Returns:
        the output, shape (B, H, T, h), and the logsumexp of each query's scaled (and masked) scores, shape (B, H, T).
    """
    # Task 1: for each block of queries keep a maximum, a sum and an undivided output; each block of keys corrects them.
    raise NotImplementedError


def flash_attention_backward(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    output: torch.Tensor,
    logsumexp: torch.Tensor,
    grad_output: torch.Tensor,
    block_size: int = 64,
    causal: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The gradients of attention. Its weights are computed again, tile by tile.

    Args:
        query: shape (B, H, T, h).
        keys: shape (B, H, T, h).
        values: shape (B, H, T, h).
        output: what attention gave, shape (B, H, T, h).
        logsumexp: of each query's scaled (and masked) scores, shape (B, H, T).
        grad_output: the gradient that reaches the output, shape (B, H, T, h).
        block_size: size of the tiles; it need not divide T, and may be larger.
        causal: whether a token attends only to itself and to the tokens before it.

    Returns:
        the gradients of query, keys and values, each of shape (B, H, T, h).
    """
    # Task 2: with the logsumexp a tile's weights are one exp away; each tile adds to all three gradients.
    raise NotImplementedError


class FlashAttention(torch.autograd.Function):
    """Attention as autograd sees it: one operation, with a backward pass of its own."""

    @staticmethod
    def forward(ctx, query, keys, values, block_size: int, causal: bool) -> torch.Tensor:
        """The output (B, H, T, h); `ctx` keeps what `backward` needs."""
        # Task 3: keep the inputs, the output and the logsumexp, and no tile.
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: torch.Tensor):
        """The gradients of query, keys and values, and None for block_size and causal."""
        # Task 3: what you kept is in ctx.saved_tensors.
        raise NotImplementedError


def flash_attention(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, block_size: int = 64, causal: bool = False
) -> torch.Tensor:
    """Scaled dot-product attention that never holds a T × T tensor, neither forward nor backward.

    Args:
        query: shape (B, H, T, h).
        keys: shape (B, H, T, h).
        values: shape (B, H, T, h).
        block_size: size of the tiles; it need not divide T, and may be larger.
        causal: whether a token attends only to itself and to the tokens before it.

    Returns:
        the context vectors, shape (B, H, T, h).
    """
    # Task 1: the output of attention_and_logsumexp. Task 3: through FlashAttention, so that autograd keeps no tile.
    raise NotImplementedError
