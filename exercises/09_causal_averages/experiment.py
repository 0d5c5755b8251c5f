"""Three ways to the same averages: how long does each take?

    make experiment EX=09

Four sequences of T tokens with 16 numbers each. Of each way the best of five
runs is taken, and given as a multiple of the time of the matrix product.
Times differ from machine to machine, but the loop always loses.
"""

import time

import torch

TIMED = ("product", "softmax", "loop")
CLAIM = "The three agree to the fifth digit, and the loop takes many times as long as one product."
SIZES = (32, 128, 512)


def loop(x: torch.Tensor) -> torch.Tensor:
    result = torch.zeros_like(x)
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            result[b, t] = x[b, : t + 1].mean(dim=0)
    return result


def product(x: torch.Tensor) -> torch.Tensor:
    weights = torch.ones(x.shape[1], x.shape[1]).tril()
    return weights / weights.sum(dim=1, keepdim=True) @ x


def softmax(x: torch.Tensor) -> torch.Tensor:
    future = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
    scores = torch.zeros(future.shape).masked_fill(future, -torch.inf)
    return torch.softmax(scores, dim=-1) @ x


def seconds(way, x: torch.Tensor) -> float:
    """The best of five runs."""
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        way(x)
        best = min(best, time.perf_counter() - start)
    return best


def measure() -> list[dict[str, float | str]]:
    """One row for each length."""
    torch.manual_seed(123)
    rows = []
    for T in SIZES:
        x = torch.randn(4, T, 16)
        unit = seconds(product, x)
        row = {"T": T, "product": 1.0}
        rows.append(row | {"softmax": seconds(softmax, x) / unit, "loop": seconds(loop, x) / unit})
    return rows


def claim(rows: list[dict[str, float | str]]) -> bool:
    """A robust factor: it is some ten times as large on most machines."""
    x = torch.randn(4, SIZES[-1], 16)
    agree = all(torch.allclose(way(x), loop(x), atol=1e-5) for way in (product, softmax))
    return agree and max(row["loop"] for row in rows) > 5
