"""Does a score know where two tokens are, or only how far apart they are?

A query and a key of 64 random numbers are placed at the start of a text and 1,000 tokens later, at the same distance.
First they are turned by the angles of their positions. Then, instead, a vector for each position is added to them.
"""

import torch

CLAIM = "Turned, the score is the same wherever the pair is; with added positions it is not."

HEAD_DIM, BASE, LATER = 64, 10_000.0, 1000
DISTANCES = (0, 1, 8, 64)


def angles(position: int) -> torch.Tensor:
    """An angle for each pair of numbers, (HEAD_DIM / 2,)."""
    return position * BASE ** (-2 * torch.arange(HEAD_DIM // 2, dtype=torch.float64) / HEAD_DIM)


def turned(vector: torch.Tensor, position: int) -> torch.Tensor:
    """A vector of HEAD_DIM / 2 complex numbers: number i of the first half with number i of the second."""
    return vector * torch.polar(torch.ones(HEAD_DIM // 2, dtype=torch.float64), angles(position))


def with_added(vector: torch.Tensor, position: int) -> torch.Tensor:
    """The same with a vector of waves added, as in the first transformers."""
    return vector + torch.complex(torch.cos(angles(position)), torch.sin(angles(position)))


def score(place, query: torch.Tensor, key: torch.Tensor, distance: int, start: int) -> float:
    """The scaled score of a query that is `distance` tokens after its key."""
    product = (place(query, start + distance) * place(key, start).conj()).real.sum()  # the dot product of the pairs
    return float(product / HEAD_DIM**0.5)


def measure() -> list[dict[str, float]]:
    generator = torch.Generator().manual_seed(123)
    query, key = torch.randn(2, HEAD_DIM // 2, dtype=torch.complex128, generator=generator) * 2**0.5
    rows = []
    for distance in DISTANCES:
        row = {"distance": distance}
        for name, place in (("turned", turned), ("added", with_added)):
            row |= {f"{name}, at {start}": score(place, query, key, distance, start) for start in (0, LATER)}
        rows.append(row)
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    same = all(abs(row["turned, at 0"] - row[f"turned, at {LATER}"]) < 1e-9 for row in rows)
    return same and any(abs(row["added, at 0"] - row[f"added, at {LATER}"]) > 0.1 for row in rows)
