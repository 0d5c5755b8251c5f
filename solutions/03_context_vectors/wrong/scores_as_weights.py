"""The raw scores are returned as weights: they are not normalised yet, so a row does not sum to 1."""

import torch


def attention_weights(inputs: torch.Tensor) -> torch.Tensor:
    """How much each token attends to each other token.

    Args:
        inputs: token embeddings, shape (T, d).

    Returns:
        attention weights, shape (T, T); row i belongs to token i and sums to 1.
    """
    scores = inputs @ inputs.T  # (T, T)
    return scores  # (T, T)


def context_vector(inputs: torch.Tensor, query_index: int) -> torch.Tensor:
    """The context vector of one token.

    Args:
        inputs: token embeddings, shape (T, d).
        query_index: which token asks, from 0.

    Returns:
        the weighted sum of all tokens, shape (d,).
    """
    weights = torch.softmax(inputs @ inputs[query_index], dim=-1)  # (T,)
    return weights @ inputs  # (d,)


def context_vectors(inputs: torch.Tensor) -> torch.Tensor:
    """The context vectors of all tokens at once.

    Args:
        inputs: token embeddings, shape (T, d).

    Returns:
        context vectors, shape (T, d).
    """
    return attention_weights(inputs) @ inputs  # (T, T) @ (T, d) -> (T, d)
