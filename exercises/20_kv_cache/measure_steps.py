"""The time of one new token with a cache and without, as a picture of bars.

    python exercises/20_kv_cache/measure_steps.py

One layer of the size of the smallest GPT-2: 768 numbers a token, 12 heads, float32, one sequence. Times are those of
one core, the best of several tries. A bar has a length for each power of two.
"""

import math
import time

import torch
from torch.nn import functional as F

SIZE, HEADS = 768, 12
TOKENS = (64, 128, 256, 512, 1024, 2048)
TRIES = 7


def split_heads(x: torch.Tensor) -> torch.Tensor:
    return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)


def attend(x: torch.Tensor, weights: torch.Tensor, cache=None) -> tuple:
    """Output and cache of causal attention for new tokens (1, T, SIZE), with four matrices (4, SIZE, SIZE)."""
    queries, keys, values = (split_heads(F.linear(x, matrix)) for matrix in weights[:3])
    if cache is not None:
        keys, values = torch.cat([cache[0], keys], dim=2), torch.cat([cache[1], values], dim=2)
    scores = queries @ keys.mT / (SIZE // HEADS) ** 0.5
    past = keys.shape[2] - x.shape[1]
    future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(1 + past)
    mixed = torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1) @ values
    return F.linear(mixed.transpose(1, 2).flatten(-2), weights[3]), (keys, values)


def milliseconds(x: torch.Tensor, weights: torch.Tensor, cache=None) -> float:
    best = math.inf
    for _ in range(TRIES):
        start = time.process_time()
        attend(x, weights, cache)
        best = min(best, time.process_time() - start)
    return 1000 * best


def bar(ms: float) -> str:
    return "█" * max(1, round(2 * math.log2(ms / 0.25)))


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(123)
    weights = torch.randn(4, SIZE, SIZE) / SIZE**0.5
    print("token   without a cache                           with a cache")
    with torch.no_grad():
        for tokens in TOKENS:
            x = torch.randn(1, tokens, SIZE)
            _, cache = attend(x[:, :-1], weights)
            without, with_cache = milliseconds(x, weights), milliseconds(x[:, -1:], weights, cache)
            print(f"{tokens:>5,} {without:>7.1f} ms  {bar(without):31} {with_cache:>5.1f} ms  {bar(with_cache)}")
