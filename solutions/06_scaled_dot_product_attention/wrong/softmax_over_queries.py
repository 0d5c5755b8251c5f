"""The softmax runs over the queries: each query shares out 1 among the keys, the last dimension. Look at dim."""

import torch


def attention_score(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    """The raw attention score of one query and one key: how well the two match, not scaled.

    Args:
        query: what one token looks for, shape (d_k,).
        key: what one token has to offer, shape (d_k,).

    Returns:
        their dot product, a scalar tensor, shape ().
    """
    return query @ key  # ()


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """How much each query attends to each key: the softmax of the scores divided by √d_k.

    Args:
        query: one query, shape (d_k,), or many, shape (…, T_q, d_k).
        keys: the keys, shape (T_k, d_k) for one query, else (…, T_k, d_k) with the same "…",
            which stands for no, one or two leading dimensions (batch, heads).

    Returns:
        attention weights, shape (T_k,) for one query, else (…, T_q, T_k);
        row i belongs to query i and sums to 1.
    """
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scores = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    return torch.softmax(scores, dim=-2 if scores.ndim > 1 else -1)  # (…, T_q, T_k)


def scaled_dot_product_attention(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """The context vector of each query: the sum of the values, weighted by the attention weights.

    Args:
        query: one query, shape (d_k,), or many, shape (…, T_q, d_k).
        keys: the keys, shape (T_k, d_k) for one query, else (…, T_k, d_k).
        values: one value for each key, shape (T_k, d_v) for one query, else (…, T_k, d_v).

    Returns:
        context vectors, shape (d_v,) for one query, else (…, T_q, d_v).
    """
    return scaled_attention_weights(query, keys) @ values  # (…, T_q, T_k) @ (…, T_k, d_v) -> (…, T_q, d_v)


def score_variances(query: torch.Tensor, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """How far the scores spread, before and after they are divided by √d_k.

    Args:
        query: the queries, shape (…, T_q, d_k).
        keys: the keys, shape (…, T_k, d_k).

    Returns:
        the variance of the raw scores and the variance of the scaled scores: two scalar tensors,
        each unbiased (divided by n − 1) and taken over all n scores at once.
    """
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scaled = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    return scores.var(), scaled.var()  # (), ()
