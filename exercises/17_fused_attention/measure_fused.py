"""Attention by hand and by torch's fused function: the table of the lesson.

    python exercises/17_fused_attention/measure_fused.py

For 12 heads of 64 numbers in float32 and ever longer sequences, it prints the time of one forward pass on one core (the
best of several) and by how much the memory of a fresh process grows in it.
"""

import multiprocessing
import resource
import time

import torch
from torch.nn import functional as F

HEADS, HEAD_DIM = 12, 64
TOKENS = (256, 512, 1024, 2048)
TRIES = 5


def by_hand(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    scores = queries @ keys.mT  # (1, H, T, T)
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    scores = scores.masked_fill(future, -torch.inf)
    return torch.softmax(scores / HEAD_DIM**0.5, dim=-1) @ values


def fused(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(queries, keys, values, is_causal=True)


def measure(function, tokens: int) -> tuple[float, float]:
    """Milliseconds of one pass, and MiB by which the first one made the process grow."""
    torch.set_num_threads(1)
    with torch.no_grad():
        function(*torch.randn(3, 1, HEADS, 8, HEAD_DIM))  # what torch does once
        heads = torch.randn(3, 1, HEADS, tokens, HEAD_DIM)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB on Linux
        function(*heads)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        best = float("inf")
        for _ in range(TRIES):
            start = time.process_time()
            function(*heads)
            best = min(best, time.process_time() - start)
    return 1000 * best, grown / 2**10


def in_a_fresh_process(function, tokens: int) -> tuple[float, float]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (function, tokens))


if __name__ == "__main__":
    print("            one pass on one core        memory on the way")
    print("tokens      by hand       fused         by hand      fused")
    for tokens in TOKENS:
        (hand_ms, hand_mib), (ms, mib) = in_a_fresh_process(by_hand, tokens), in_a_fresh_process(fused, tokens)
        print(f"{tokens:>6,} {hand_ms:>9,.0f} ms {ms:>8,.0f} ms {hand_mib:>11,.0f} MiB {mib:>6,.0f} MiB")
