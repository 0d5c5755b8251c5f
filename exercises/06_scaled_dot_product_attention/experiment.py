"""What do long queries and keys do to the softmax, and to its gradient?

    make experiment EX=06

Queries and keys are standard normal: 500 queries, each with 8 keys of its
own. The largest weight is the mean of the 8 weights' largest. The slope is
how far a weight answers to its score, w(1 - w), summed over the 8 keys: the
softmax lets no more of the gradient through.
"""

import torch

CLAIM = (
    "Without the scale one key takes nearly all as d_k grows, and almost no "
    "gradient gets through. With it both stay much the same for every d_k."
)
SIZES = (1, 4, 16, 64, 256, 1024)


def look(scores: torch.Tensor) -> tuple[float, float]:
    """Largest weight and slope, each a mean over the queries (500, 8)."""
    weights = torch.softmax(scores, dim=-1)
    slope = (weights * (1 - weights)).sum(dim=-1)
    return float(weights.amax(dim=-1).mean()), float(slope.mean())


def measure() -> list[dict[str, float]]:
    """One row for each d_k."""
    torch.manual_seed(123)
    rows = []
    for d_k in SIZES:
        queries, keys = torch.randn(500, 1, d_k), torch.randn(500, 8, d_k)
        scores = (queries * keys).sum(dim=-1)  # (500, 8)
        largest, slope = look(scores)
        largest_scaled, slope_scaled = look(scores / d_k**0.5)
        rows.append(
            {
                "d_k": d_k,
                "largest weight, raw": largest,
                "largest weight, scaled": largest_scaled,
                "slope, raw": slope,
                "slope, scaled": slope_scaled,
            }
        )
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    """Compares the longest with the shortest."""
    last = rows[-1]
    scaled = [row["slope, scaled"] for row in rows]
    return (
        last["largest weight, raw"] > 0.95
        and last["slope, raw"] < 0.1 * last["slope, scaled"]
        and max(scaled) < 1.3 * min(scaled)
    )
