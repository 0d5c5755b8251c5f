"""Exercise 10: the causal mask. No token attends to the tokens after it."""

import torch


def causal_mask(T: int) -> torch.Tensor:
    """Which token may attend to which.

    Args:
        T: number of tokens.

    Returns:
        bool tensor, shape (T, T); True where the row's token may attend to the column's token:
        on the diagonal and below it.
    """
    return torch.ones(T, T, dtype=torch.bool).tril()  # (T, T)


def mask_then_renormalize(weights: torch.Tensor) -> torch.Tensor:
    """Attention weights without the future: masked after the softmax, then rescaled.

    Args:
        weights: attention weights, shape (…, T, T), rows sum to 1.

    Returns:
        weights, shape (…, T, T): 0 above the diagonal, and each row sums to 1 again.
    """
    mask = causal_mask(weights.shape[-1]).to(weights.device)  # (T, T)
    kept = weights.masked_fill(~mask, 0.0)  # (…, T, T)
    return kept / kept.sum(dim=-1, keepdim=True)  # (…, T, T) / (…, T, 1) -> (…, T, T)


def mask_scores(scores: torch.Tensor) -> torch.Tensor:
    """Attention scores without the future: -inf wherever a token would look ahead.

    Args:
        scores: attention scores, shape (…, T, T); row i belongs to the token that attends.

    Returns:
        scores, shape (…, T, T): -inf above the diagonal, unchanged elsewhere.
    """
    mask = causal_mask(scores.shape[-1]).to(scores.device)  # (T, T)
    return scores.masked_fill(~mask, -torch.inf)  # (…, T, T)


def causal_attention_weights(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    """Attention weights that never look ahead: masked scores, scaled by 1/√d_k, softmax.

    Args:
        scores: raw attention scores, neither masked nor scaled, shape (…, T, T).
        d_k: size of the queries and keys that the scores come from.

    Returns:
        attention weights, shape (…, T, T): 0 above the diagonal, each row sums to 1.
    """
    return torch.softmax(mask_scores(scores) / d_k**0.5, dim=-1)  # (…, T, T)
