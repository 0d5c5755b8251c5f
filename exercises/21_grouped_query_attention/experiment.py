"""How much memory does the cache of Llama 3 8B take with fewer heads of keys and values?

32 layers, 32 heads of queries of 128 numbers, bfloat16. Bytes are those of real tensors on the meta device, which have
a shape and no content. The model itself has 8 heads of keys and values.
"""

import torch

CLAIM = "The cache shrinks as the heads of keys and values do; the queries play no part in it."

LAYERS, HEADS, HEAD_DIM, TOKENS = 32, 32, 128, 8192
ROOM = 8 * 2**30  # bytes that are left beside the model's own 16 GB on a GPU of 24


def cache_bytes(groups: int, tokens: int) -> int:
    """Bytes of all layers' keys and values of one text."""
    keys = torch.empty(1, groups, tokens, HEAD_DIM, dtype=torch.bfloat16, device="meta")
    return 2 * LAYERS * keys.nbytes


def measure() -> list[dict[str, float]]:
    rows = []
    for groups in (32, 8, 1):
        text = cache_bytes(groups, TOKENS)
        row = {"heads of keys": groups, "KiB a token": cache_bytes(groups, 1) / 2**10}
        rows.append(row | {"MiB at 8,192 tokens": text / 2**20, "texts in 8 GiB": ROOM // text})
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    most = rows[0]
    return most["heads of keys"] == HEADS and all(
        row["MiB at 8,192 tokens"] * HEADS == most["MiB at 8,192 tokens"] * row["heads of keys"] for row in rows
    )
