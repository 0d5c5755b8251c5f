"""What rotary embedding does to a score over distance: the table of the lesson.

    python exercises/19_rotary_embedding/measure_distance.py

A query and a key hold the same vector: 128 times 1/√128, whose score is 1 if both are at the same position. Both are
turned, as complex numbers in float64, by the angles of their positions.
"""

import math

import torch

HEAD_DIM = 128
BASES = (10_000.0, 500_000.0)
DISTANCES = (0, 1, 4, 16, 64, 256, 1024, 4096)
BAR = 20  # characters for a score of 1


def turned(vector: torch.Tensor, position: int, base: float) -> torch.Tensor:
    """A vector of HEAD_DIM / 2 complex numbers, turned by the angles of a position."""
    pairs = torch.arange(HEAD_DIM // 2, dtype=torch.float64)
    angles = position * base ** (-2 * pairs / HEAD_DIM)
    return vector * torch.polar(torch.ones_like(angles), angles)


def score(distance: int, base: float) -> float:
    """The dot product of the query at position `distance` and the key at position 0."""
    part = 1 / math.sqrt(HEAD_DIM)
    vector = torch.full((HEAD_DIM // 2,), complex(part, part), dtype=torch.complex128)
    return float((turned(vector, distance, base) * turned(vector, 0, base).conj()).real.sum())


if __name__ == "__main__":
    print("distance " + "".join(f"  base {base:>7,.0f}{'':{BAR}}" for base in BASES).rstrip())
    for distance in DISTANCES:
        scores = [score(distance, base) for base in BASES]
        cells = "".join(f"  {value:7.3f}  {'█' * max(0, round(BAR * value)):{BAR}}   " for value in scores)
        print(f"{distance:>8} {cells}".rstrip())
