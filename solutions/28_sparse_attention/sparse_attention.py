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
    products = torch.relu(torch.einsum("bqic,bkc->bqik", queries, keys))  # (B, T_q, I, T_k)
    return torch.einsum("bqi,bqik->bqk", head_weights, products)  # (B, T_q, T_k)


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
    T_q, T_k = scores.shape[-2:]
    positions = torch.arange(T_k, device=scores.device)  # (T_k,)
    last = first_query + torch.arange(T_q, device=scores.device)[:, None]  # (T_q, 1)
    visible = scores.masked_fill(positions > last, -torch.inf)  # (B, T_q, T_k)
    order = visible.sort(dim=-1, descending=True, stable=True).indices[..., :k]  # (B, T_q, at most k)
    order = order.masked_fill(positions[:k] > last, -1)  # in row r, first_query + r + 1 keys can be selected
    return F.pad(order, (0, k - order.shape[-1]), value=-1)  # (B, T_q, k)


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
    missing = (indices < 0)[:, None]  # (B, 1, T_q, k)
    batch = torch.arange(len(indices), device=indices.device)[:, None, None]  # (B, 1, 1)
    keys = keys.transpose(1, 2)[batch, indices.clamp(min=0)]  # (B, T_q, k, H, h)
    values = values.transpose(1, 2)[batch, indices.clamp(min=0)]  # (B, T_q, k, H, d_v)
    scores = torch.einsum("bhqd,bqkhd->bhqk", queries, keys) / queries.shape[-1] ** 0.5  # (B, H, T_q, k)
    scores = scores.masked_fill(missing, torch.finfo(scores.dtype).min)  # finite: a row of them gives no NaN
    weights = torch.softmax(scores, dim=-1).masked_fill(missing, 0.0)  # (B, H, T_q, k)
    return torch.einsum("bhqk,bqkhd->bhqd", weights, values)  # (B, H, T_q, d_v)


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
    outputs = []
    for start in range(0, queries.shape[2], block_size):
        stop = min(start + block_size, queries.shape[2])
        block = slice(start, stop)
        with torch.no_grad():
            scores = index_scores(index_queries[:, block], index_keys[:, :stop], head_weights[:, block])
            indices = top_keys(scores, k, first_query=start)  # (B, block, k)
        outputs.append(sparse_attention(queries[:, :, block], keys, values, indices))  # (B, H, block, d_v)
    return torch.cat(outputs, dim=2)  # (B, H, T, d_v)


def coverage(weights: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """How much of full attention's weight lies on the selected keys.

    Args:
        weights: of full attention, shape (B, H, T_q, T_k); rows sum to 1.
        indices: positions of the selected keys, shape (B, T_q, k), shared by all heads; −1 is no key.

    Returns:
        the sum of the weights of the selected keys, shape (B, H, T_q).
    """
    # Task 5: fetch the weights of the selected keys, leave out those of −1, add them up.
    missing = (indices < 0)[:, None]  # (B, 1, T_q, k)
    places = indices.clamp(min=0)[:, None].expand(-1, weights.shape[1], -1, -1)  # (B, H, T_q, k)
    return weights.gather(-1, places).masked_fill(missing, 0.0).sum(dim=-1)  # (B, H, T_q)
