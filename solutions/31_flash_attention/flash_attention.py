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
    T, h = query.shape[-2:]
    outputs, logsumexps = [], []
    for start in range(0, T, block_size):
        rows = query[..., start : start + block_size, :] / h**0.5  # (B, H, n, h)
        maximum = torch.full_like(rows[..., 0], -torch.inf)  # (B, H, n)
        total = torch.zeros_like(maximum)  # (B, H, n)
        output = torch.zeros_like(rows)  # (B, H, n, h)
        for first in range(0, start + 1 if causal else T, block_size):
            scores = rows @ keys[..., first : first + block_size, :].mT  # (B, H, n, m)
            if causal and first == start:
                scores = hide_future(scores, start, first)
            larger = torch.maximum(maximum, scores.amax(dim=-1))  # (B, H, n)
            weights = torch.exp(scores - larger[..., None])  # (B, H, n, m)
            shrink = torch.exp(maximum - larger)  # (B, H, n)
            total = total * shrink + weights.sum(dim=-1)
            output = output * shrink[..., None] + weights @ values[..., first : first + block_size, :]
            maximum = larger
        outputs.append(output / total[..., None])
        logsumexps.append(maximum + torch.log(total))
    return torch.cat(outputs, dim=-2), torch.cat(logsumexps, dim=-1)


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
    T, h = query.shape[-2:]
    delta = (grad_output * output).sum(dim=-1, keepdim=True)  # (B, H, T, 1)
    grad_query, grad_keys, grad_values = torch.zeros_like(query), torch.zeros_like(keys), torch.zeros_like(values)
    for first in range(0, T, block_size):
        near = slice(first, first + block_size)  # m keys
        for start in range(first if causal else 0, T, block_size):
            here = slice(start, start + block_size)  # n queries
            scores = query[..., here, :] @ keys[..., near, :].mT / h**0.5  # (B, H, n, m)
            if causal and first == start:
                scores = hide_future(scores, start, first)
            weights = torch.exp(scores - logsumexp[..., here, None])  # (B, H, n, m)
            grad_weights = grad_output[..., here, :] @ values[..., near, :].mT  # (B, H, n, m)
            grad_scores = weights * (grad_weights - delta[..., here, :]) / h**0.5  # (B, H, n, m)
            grad_query[..., here, :] += grad_scores @ keys[..., near, :]
            grad_keys[..., near, :] += grad_scores.mT @ query[..., here, :]
            grad_values[..., near, :] += weights.mT @ grad_output[..., here, :]
    return grad_query, grad_keys, grad_values


class FlashAttention(torch.autograd.Function):
    """Attention as autograd sees it: one operation, with a backward pass of its own."""

    @staticmethod
    def forward(ctx, query, keys, values, block_size: int, causal: bool) -> torch.Tensor:
        """The output (B, H, T, h); `ctx` keeps what `backward` needs."""
        # Task 3: keep the inputs, the output and the logsumexp, and no tile.
        output, logsumexp = attention_and_logsumexp(query, keys, values, block_size, causal)
        ctx.save_for_backward(query, keys, values, output, logsumexp)
        ctx.block_size, ctx.causal = block_size, causal
        return output

    @staticmethod
    def backward(ctx, grad_output: torch.Tensor):
        """The gradients of query, keys and values, and None for block_size and causal."""
        # Task 3: what you kept is in ctx.saved_tensors.
        gradients = flash_attention_backward(*ctx.saved_tensors, grad_output, ctx.block_size, ctx.causal)
        return *gradients, None, None


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
    return FlashAttention.apply(query, keys, values, block_size, causal)
