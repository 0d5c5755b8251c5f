"""How do the weights change when all scores are multiplied by the same number?

    make experiment EX=02

The scores of "journey" from exercise 01 are multiplied by a factor. The
naive sum is the sum of e^x in float32, which softmax_naive divides by.
"""

import torch

CLAIM = "Larger scores make the softmax sharper, until one token has all; by then the naive sum of e^x is inf."
SCORES = (0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865)
FACTORS = (0, 0.1, 1, 10, 100, 1000)


def measure() -> list[dict[str, float]]:
    """One row for each factor."""
    rows = []
    for factor in FACTORS:
        scores = factor * torch.tensor(SCORES)
        weights = torch.softmax(scores, dim=0)
        rows.append(
            {
                "scores times": factor,
                "naive sum": float(scores.exp().sum()),
                "smallest weight": float(weights.min()),
                "largest weight": float(weights.max()),
            }
        )
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    """The largest weight grows from 1/6 to 1, and the last naive sum is inf."""
    largest = [row["largest weight"] for row in rows]
    return largest == sorted(largest) and largest[-1] > 0.999 and rows[-1]["naive sum"] == float("inf")
