"""What does dropout leave of a row of weights?

A row of a causal mean has as many equal weights as its token may see, and they sum to 1. Half of them are dropped and
the rest doubled, 4,000 times. Shown are the sum in one draw, its mean and its spread (the standard deviation) over all
draws.
"""

import torch

CLAIM = "Dropout keeps the mean of a row's sum at 1, and the more weights share a row, the less a draw changes it."

TOKENS, DRAWS, P = 6, 4000, 0.5


def row_sums(generator: torch.Generator) -> torch.Tensor:
    """The sums of the rows of a causal mean after dropout, (DRAWS, TOKENS). Without dropout each is 1."""
    weights = torch.ones(TOKENS, TOKENS).tril()
    weights = weights / weights.sum(dim=1, keepdim=True)
    stays = torch.rand(DRAWS, TOKENS, TOKENS, generator=generator) >= P
    return (weights * stays / (1 - P)).sum(dim=-1)


def measure() -> list[dict[str, float]]:
    sums = row_sums(torch.Generator().manual_seed(123)).double()
    columns = zip(sums[0].tolist(), sums.mean(dim=0).tolist(), sums.std(dim=0).tolist(), strict=True)
    return [
        {"token": token, "sum, one draw": one, "sum, mean": round(mean, 3), "sum, spread": round(spread, 3)}
        for token, (one, mean, spread) in enumerate(columns)
    ]


def claim(rows: list[dict[str, float]]) -> bool:
    spreads = [row["sum, spread"] for row in rows]
    return all(abs(row["sum, mean"] - 1) < 0.1 for row in rows) and spreads == sorted(spreads, reverse=True)
