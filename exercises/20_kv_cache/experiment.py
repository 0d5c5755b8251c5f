"""How much work does one new token take, with a cache and without?

One layer of the size of the smallest GPT-2: 768 numbers a token, 12 heads. Multiplications are counted by torch from
the shapes alone, on the meta device: no number is computed, and no time is measured.
"""

import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

CLAIM = "With a cache a new token's work grows by the same small step for each token; without it, ever faster."

SIZE, HEADS = 768, 12
TOKENS = (64, 128, 256, 512, 1024, 2048)


def heads(x: torch.Tensor) -> torch.Tensor:
    return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)


def work(new: int, past: int) -> float:
    """Millions of multiplications for `new` tokens where keys and values of `past` tokens are kept."""
    x, matrix = torch.empty(1, new, SIZE, device="meta"), torch.empty(SIZE, SIZE, device="meta")
    kept = torch.empty(1, HEADS, past, SIZE // HEADS, device="meta")
    with FlopCounterMode(display=False) as counter:
        queries, keys, values = (heads(F.linear(x, matrix)) for _ in range(3))
        keys, values = torch.cat([kept, keys], dim=2), torch.cat([kept, values], dim=2)
        mixed = torch.softmax(queries @ keys.mT, dim=-1) @ values
        F.linear(mixed.transpose(1, 2).flatten(2), matrix)
    return counter.get_total_flops() / 2 / 1e6  # torch counts the addition beside each multiplication


def measure() -> list[dict[str, float]]:
    rows = []
    for token in TOKENS:
        whole, cached = work(token, 0), work(1, token - 1)
        rows.append({"token": token, "whole text, million": whole, "with a cache, million": cached})
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    def steps(name: str) -> list[float]:
        """How much the work grows for each token, between one row and the next."""
        pairs = zip(rows, rows[1:], strict=False)
        return [(after[name] - before[name]) / (after["token"] - before["token"]) for before, after in pairs]

    whole, cached = steps("whole text, million"), steps("with a cache, million")
    return max(cached) - min(cached) < 1e-9 and whole == sorted(whole) and whole[-1] > 2 * whole[0]
