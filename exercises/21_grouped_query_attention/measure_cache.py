"""What fewer heads of keys and values save: bytes, and the times in the lesson.

    python exercises/21_grouped_query_attention/measure_cache.py

The sizes are those of Llama 3 8B: 32 layers, 32 heads of queries of 128 numbers, 8 heads of keys and values. Bytes are
counted on real tensors (on the meta device, which holds no numbers), times are those of one core, the best of several
tries.
"""

import time

import torch

LAYERS, HEADS, HEAD_DIM = 32, 32, 128
GROUPS = {"multi-head": 32, "grouped-query": 8, "multi-query": 1}
TOKENS = 8192
TRIES = 20


def cache_bytes(groups: int, tokens: int) -> int:
    """Bytes of all layers' keys and values of one sequence, in bfloat16."""
    one = torch.empty(1, groups, tokens, HEAD_DIM, dtype=torch.bfloat16, device="meta")
    return 2 * LAYERS * one.nbytes


def step_ms(groups: int) -> float:
    """Milliseconds in which one new token attends to TOKENS tokens, in one layer, in float32."""
    queries = torch.randn(groups, HEADS // groups, HEAD_DIM)  # the heads of a group side by side: nothing is copied
    keys, values = torch.randn(2, groups, TOKENS, HEAD_DIM)
    best = float("inf")
    for _ in range(TRIES):
        start = time.process_time()
        torch.softmax(queries @ keys.mT / HEAD_DIM**0.5, dim=-1) @ values
        best = min(best, time.process_time() - start)
    return 1000 * best


if __name__ == "__main__":
    torch.set_num_threads(1)
    print("               heads of      cache of    cache of      one step at")
    print("               keys, values  one token   8,192 tokens  8,192 tokens")
    for name, groups in GROUPS.items():
        one, all_tokens = cache_bytes(groups, 1) / 2**10, cache_bytes(groups, TOKENS) / 2**20
        print(f"{name:15} {groups:>6} {one:>11,.0f} KiB {all_tokens:>9,.0f} MiB {step_ms(groups):>10.1f} ms")
