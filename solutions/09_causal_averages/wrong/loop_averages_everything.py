"""average_loop takes the mean of the whole sequence for every token: the average of token t ends with row t."""

import torch


def average_loop(x: torch.Tensor) -> torch.Tensor:
    """The running averages of every sequence, computed token by token.

    Args:
        x: token embeddings, shape (B, T, d).

    Returns:
        averages, shape (B, T, d); row t is the mean of the rows 0 … t of the same sequence.
    """
    batch, tokens, _ = x.shape
    averages = torch.empty_like(x)  # (B, T, d)
    for b in range(batch):
        for t in range(tokens):
            past = x[b]  # (t + 1, d)
            averages[b, t] = past.mean(dim=0)  # (d,)
    return averages  # (B, T, d)


def averaging_weights(T: int) -> torch.Tensor:
    """How much each token counts in the average of each other token.

    Args:
        T: number of tokens.

    Returns:
        weights, shape (T, T); row t holds t + 1 equal numbers, then zeros, and sums to 1.
    """
    ones = torch.tril(torch.ones(T, T))  # (T, T)
    return ones / ones.sum(dim=-1, keepdim=True)  # (T, T) / (T, 1) -> (T, T)


def average_matmul(x: torch.Tensor) -> torch.Tensor:
    """The running averages of every sequence, computed by one matrix product.

    Args:
        x: token embeddings, shape (B, T, d).

    Returns:
        averages, shape (B, T, d), the same as `average_loop`.
    """
    weights = averaging_weights(x.shape[1]).to(x)  # (T, T), dtype and device of x
    return weights @ x  # (T, T) @ (B, T, d) -> (B, T, d)


def average_softmax(x: torch.Tensor) -> torch.Tensor:
    """The running averages of every sequence, with weights from a softmax over masked zeros.

    Args:
        x: token embeddings, shape (B, T, d).

    Returns:
        averages, shape (B, T, d), the same as `average_loop`.
    """
    scores = x.new_zeros(x.shape[1], x.shape[1])  # (T, T), dtype and device of x
    future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)  # (T, T)
    weights = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)  # (T, T), rows sum to 1
    return weights @ x  # (T, T) @ (B, T, d) -> (B, T, d)
