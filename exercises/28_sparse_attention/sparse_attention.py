"""Exercise 28: sparse attention. A small indexer scores every key, and attention reads the best k of them."""

import torch
from torch.nn import functional as F


def index_scores(queries: torch.Tensor, keys: torch.Tensor, head_weights: torch.Tensor) -> torch.Tensor:
    """How much each query wants to read each key, by the indexer's small heads.

    Args:
        queries: of the indexer, shape (B, T_q, I, c): I small heads.
        keys: of the indexer, shape (B, T_k, c): one for each token, shared by the small heads.
        head_weights: how much each small head counts for each query, shape (B, T_q, I); may be negative.

    Returns:
        scores, shape (B, T_q, T_k): the sum over the small heads of weight · relu(query · key). No scale.
    """
    # Task 1: the product of every query of every small head with every key, relu, weigh the heads, add them up.
    raise NotImplementedError


def top_keys(scores: torch.Tensor, k: int, first_query: int = 0) -> torch.Tensor:
    """The positions of the k keys that score highest, among those that each query may see.

    Args:
        scores: finite, shape (B, T_q, T_k).
        k: how many keys each query selects, 1 or more; it may be more than there are.
        first_query: the position of the first row's query. Row r sees the keys 0 … first_query + r.

    Returns:
        positions, int64, shape (B, T_q, k): the largest score first, of equal ones the lower position first,
        and −1 after them where there are fewer than k keys to see.
    """
    # Task 2: hide the future, sort without changing the order of equals, take k, put −1 where nothing was left.
    raise NotImplementedError


def sparse_attention(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, indices: torch.Tensor
) -> torch.Tensor:
    """Attention of each query to its selected keys only.

    Args:
        queries: shape (B, H, T_q, h).
        keys: shape (B, H, T_k, h).
        values: shape (B, H, T_k, d_v).
        indices: positions of the selected keys, shape (B, T_q, k), shared by all heads, each at most once in a
            row. −1 is no key and may be anywhere in a row.

    Returns:
        output, shape (B, H, T_q, d_v); 0 for a query that selected no key.
    """
    # Task 3: fetch the selected keys and values, scores over √h, softmax without the −1, weigh the values.
    raise NotImplementedError


def indexed_attention(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    index_queries: torch.Tensor,
    index_keys: torch.Tensor,
    head_weights: torch.Tensor,
    k: int,
    block_size: int = 256,
) -> torch.Tensor:
    """Causal attention in which each token reads only the k keys that the indexer selects for it.

    Args:
        queries: shape (B, H, T, h).
        keys: shape (B, H, T, h).
        values: shape (B, H, T, d_v).
        index_queries: of the indexer, shape (B, T, I, c).
        index_keys: of the indexer, shape (B, T, c).
        head_weights: of the indexer, shape (B, T, I).
        k: how many keys each token reads.
        block_size: how many queries are worked on at a time; the result does not depend on it.

    Returns:
        output, shape (B, H, T, d_v). No gradient reaches index_queries, index_keys and head_weights.
    """
    # Task 4: for each block of queries: score all keys up to its end, select, attend; then put the blocks together.
    raise NotImplementedError


def coverage(weights: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """How much of full attention's weight lies on the selected keys.

    Args:
        weights: of full attention, shape (B, H, T_q, T_k); rows sum to 1.
        indices: positions of the selected keys, shape (B, T_q, k), shared by all heads; −1 is no key.

    Returns:
        the sum of the weights of the selected keys, shape (B, H, T_q).
    """
    # Task 5: fetch the weights of the selected keys, leave out those of −1, add them up.
    raise NotImplementedError
