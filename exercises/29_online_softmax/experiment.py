"""Does it matter in which order blocks are merged, and what happens to large scores?

A hundred rows of 1,024 scores are cut into four blocks, which are merged in all 24 orders. The scores grow from line to
line. Beside it is the sum of exponentials without a maximum, as in the naive softmax of exercise 02.
"""

import torch

CLAIM = "In every order the blocks give the same softmax, whatever the scores; the naive sum overflows for large ones."

ROWS, TOKENS, BLOCKS = 100, 1024, 4
CLOSE = 1e-5  # two float32 results that differ by less than this share are the same


def logsumexps(scores: torch.Tensor) -> list[torch.Tensor]:
    """What each block is remembered by: one number a row, its maximum plus the logarithm of its sum."""
    return [torch.logsumexp(block, dim=-1) for block in scores.chunk(BLOCKS, dim=-1)]


def merged(parts: list[torch.Tensor]) -> torch.Tensor:
    """The logsumexp of all blocks, merged one after the other."""
    total = parts[0]
    for part in parts[1:]:
        total = torch.logaddexp(total, part)
    return total


def orders(parts: list[torch.Tensor]) -> list[list[torch.Tensor]]:
    """The same parts in every order."""
    if len(parts) < 2:
        return [parts]
    return [[part, *rest] for i, part in enumerate(parts) for rest in orders(parts[:i] + parts[i + 1 :])]


def measure() -> list[dict[str, float]]:
    generator = torch.Generator().manual_seed(123)
    standard = torch.randn(ROWS, TOKENS, generator=generator)
    rows = []
    for size in (1, 10, 30, 100, 1000):
        scores = size * standard
        exact = torch.logsumexp(scores.double(), dim=-1)
        right = 0
        for order in orders(logsumexps(scores)):
            right += bool(((merged(order) - exact).abs() < CLOSE * exact.abs()).all())
        naive = torch.exp(scores).sum(dim=-1)
        lost = int((~torch.isfinite(naive)).sum())
        rows.append({"scores times": size, "orders right, of 24": right, "naive rows lost, of 100": lost})
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    lost = [row["naive rows lost, of 100"] for row in rows]
    return all(row["orders right, of 24"] == 24 for row in rows) and lost[0] == 0 and lost[-1] == ROWS
