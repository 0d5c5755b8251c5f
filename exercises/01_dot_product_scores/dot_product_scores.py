"""Exercise 01: dot products. How much two tokens have to do with each other, as one number."""

import torch


def dot_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The dot product of two vectors: your own sum of products.

    Args:
        a: a vector, shape (d,).
        b: a vector of the same length, shape (d,).

    Returns:
        a[0]·b[0] + a[1]·b[1] + … + a[d−1]·b[d−1], a tensor of shape ().
    """
    raise NotImplementedError


def attention_scores_for_query(inputs: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    """The score of one query with every token.

    Args:
        inputs: token embeddings, shape (T, d).
        query: the token that asks, shape (d,).

    Returns:
        scores, shape (T,); entry i is the dot product of token i and the query.
    """
    raise NotImplementedError


def attention_scores(inputs: torch.Tensor) -> torch.Tensor:
    """The score of every token with every token.

    Args:
        inputs: token embeddings, shape (T, d).

    Returns:
        scores, shape (T, T); entry [i, j] is the dot product of token i and token j.
    """
    raise NotImplementedError
