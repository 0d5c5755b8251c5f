"""What is left of the tokens when they are mixed again and again?

    make experiment EX=03

The context vectors take the place of the tokens and are mixed once more, a
few times. The spread is the mean distance of the six rows from their mean:
0 where all rows are the same.
"""

import torch

PLOT = "spread"
CLAIM = (
    "Each mixing takes more than half of the differences away: after a few "
    "rounds all tokens are one. A model needs more than bare mixing."
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


def measure() -> list[dict[str, float]]:
    """One row for each round of mixing."""
    tokens, rows = INPUTS, []
    for mixed in range(ROUNDS + 1):
        weights = torch.softmax(tokens @ tokens.T, dim=-1)
        spread = (tokens - tokens.mean(dim=0)).norm(dim=1).mean()
        own = weights.diagonal().mean()
        rows.append(
            {
                "times mixed": mixed,
                "mean weight on itself": float(own),
                "spread": float(spread),
            }
        )
        tokens = weights @ tokens
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    """Each spread is less than half of the one before."""
    spreads = [row["spread"] for row in rows]
    return all(after < before / 2 for before, after in zip(spreads, spreads[1:]))
