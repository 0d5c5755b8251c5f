"""What does it cost to grow a cache with torch.cat, and what to reserve room for it?

    python exercises/20_kv_cache/measure_room.py

Keys and values of one layer of the size of the smallest GPT-2, float32, one token after the other. Only the caches are
kept here: no attention is computed. Times are those of one core, the best of several tries.
"""

import time

import torch

HEADS, HEAD_DIM = 12, 64
LENGTHS = (1024, 2048)
TRIES = 3


class ReservedCache:
    """Keys and values with room for `longest` tokens from the start."""

    def __init__(self, B: int, H: int, longest: int, h: int):
        self.keys = torch.empty(B, H, longest, h)
        self.values = torch.empty(B, H, longest, h)
        self.length = 0

    def append(self, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Write the new tokens, each (B, H, T, h), and return views of all tokens so far."""
        start, self.length = self.length, self.length + keys.shape[2]
        self.keys[:, :, start : self.length] = keys
        self.values[:, :, start : self.length] = values
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]


def grown(new: torch.Tensor, tokens: int) -> tuple[int, float]:
    """Bytes written and seconds taken, where torch.cat makes a longer cache for each token."""
    keys, values, written, start = new, new, 2 * new.nbytes, time.process_time()
    for _ in range(tokens - 1):
        keys, values = torch.cat([keys, new], dim=2), torch.cat([values, new], dim=2)
        written += keys.nbytes + values.nbytes
    return written, time.process_time() - start


def reserved(new: torch.Tensor, tokens: int) -> tuple[int, float]:
    """The same where room is reserved, and each token is written once."""
    start = time.process_time()
    cache, written = ReservedCache(1, HEADS, tokens, HEAD_DIM), 0
    for _ in range(tokens):
        cache.append(new, new)
        written += 2 * new.nbytes
    return written, time.process_time() - start


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(123)
    new = torch.randn(1, HEADS, 1, HEAD_DIM)
    print("tokens   written by torch.cat            written in reserved room")
    for tokens in LENGTHS:
        (copied, slow), (once, fast) = (min(way(new, tokens) for _ in range(TRIES)) for way in (grown, reserved))
        print(f"{tokens:>6,} {copied / 2**20:>10,.1f} MiB {slow:>7.2f} s {once / 2**20:>14,.1f} MiB {fast:>8.3f} s")
