"""The matrices are cut from one wide drawing, so their numbers are mixed: draw one after the other."""

import torch


def init_weights(d_in: int, d_out: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Draw the three weight matrices, the query's first, then the key's, then the value's.

    Args:
        d_in: the length of a token's embedding.
        d_out: the length of a query, key or value.

    Returns:
        W_query, W_key, W_value from torch.rand, each of shape (d_in, d_out), not trainable.
    """
    wide = torch.rand(d_in, 3 * d_out)  # (d_in, 3 * d_out)
    W_query, W_key, W_value = wide.chunk(3, dim=1)  # (d_in, d_out) each
    return W_query, W_key, W_value


def project(
    inputs: torch.Tensor, W_query: torch.Tensor, W_key: torch.Tensor, W_value: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute the queries, keys and values of all tokens. The tokens are rows.

    Args:
        inputs: token embeddings, shape (T, d_in).
        W_query: shape (d_in, d_out).
        W_key: shape (d_in, d_out).
        W_value: shape (d_in, d_out).

    Returns:
        queries, keys, values, each of shape (T, d_out); row i belongs to token i.
    """
    queries = inputs @ W_query  # (T, d_in) @ (d_in, d_out) -> (T, d_out)
    keys = inputs @ W_key  # (T, d_out)
    values = inputs @ W_value  # (T, d_out)
    return queries, keys, values


def project_columns(
    inputs: torch.Tensor, W_Q: torch.Tensor, W_K: torch.Tensor, W_V: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The same, with weights that are made for tokens as columns: d_out comes first.

    Args:
        inputs: token embeddings, shape (T, d_in).
        W_Q: shape (d_k, d_in).
        W_K: shape (d_k, d_in).
        W_V: shape (d_v, d_in).

    Returns:
        queries (T, d_k), keys (T, d_k) and values (T, d_v); row i belongs to token i.
    """
    queries = inputs @ W_Q.T  # (T, d_in) @ (d_in, d_k) -> (T, d_k)
    keys = inputs @ W_K.T  # (T, d_k)
    values = inputs @ W_V.T  # (T, d_v)
    return queries, keys, values
