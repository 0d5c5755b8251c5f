"""What is left of the tokens when they are mixed again and again?

    make experiment EX=03

The context vectors take the place of the tokens and are mixed once more, a
few times. The spread is the mean distance of the six rows from their mean:
0 if all rows are the same. It is measured twice: with the scores of the
lesson, and with all of them negated, so that each token looks most at the
tokens that are least like it.
"""

import torch

CLAIM = (
    "Each mixing takes away more than half of the differences, with all scores "
    "negated too: averaging does this, not the dot product."
)
INPUTS = torch.tensor(
    [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ],
    dtype=torch.float64,
)
ROUNDS = 2


def weights_of(tokens: torch.Tensor, sign: float = 1.0) -> torch.Tensor:
    """Attention weights (T, T), from the dot products or from their negatives."""
    return torch.softmax(sign * tokens @ tokens.T, dim=-1)


def spread(tokens: torch.Tensor) -> float:
    """The mean distance of the rows from their mean."""
    return float((tokens - tokens.mean(dim=0)).norm(dim=1).mean())


def measure() -> list[dict[str, float]]:
    """One row for each round of mixing."""
    mixed = negated = INPUTS
    rows = []
    for times in range(ROUNDS + 1):
        rows.append(
            {
                "times mixed": times,
                "weight on itself": float(weights_of(mixed).diagonal().mean()),
                "spread": spread(mixed),
                "scores negated": spread(negated),
            }
        )
        mixed = weights_of(mixed) @ mixed
        negated = weights_of(negated, sign=-1.0) @ negated
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    """Each spread is less than half of the one before."""
    pairs = list(zip(rows, rows[1:]))
    return all(after[name] < before[name] / 2 for name in ("spread", "scores negated") for before, after in pairs)
