"""Which outputs move when one token changes, and what does dropout leave of a row of weights?

Six tokens look at each other through a causal mask. One after the other is changed, and the outputs that differ from
before are counted. Then half of the weights are dropped, once and 4,000 times.
"""

import torch
from torch.nn import functional as F

CLAIM = "A changed token moves its own output and the later ones alone, and dropout keeps the mean of a row at 1."

TOKENS, SIZE, DRAWS, P = 6, 4, 4000, 0.5


def outputs(x: torch.Tensor) -> torch.Tensor:
    """Causal attention of (T, SIZE), with the tokens themselves as queries, keys and values."""
    return F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True)[0]


def row_sums(draws: int, generator: torch.Generator) -> torch.Tensor:
    """The sums of the rows of a causal mean after dropout, (draws, T). Without dropout each is 1."""
    weights = torch.ones(TOKENS, TOKENS).tril()
    weights = weights / weights.sum(dim=1, keepdim=True)
    stays = torch.rand(draws, TOKENS, TOKENS, generator=generator) >= P
    return (weights * stays / (1 - P)).sum(dim=-1)


def measure() -> list[dict[str, float]]:
    generator = torch.Generator().manual_seed(123)
    x = torch.randn(TOKENS, SIZE, generator=generator)
    before = outputs(x)
    one_draw = row_sums(1, generator)[0]
    mean = row_sums(DRAWS, generator).mean(dim=0)
    rows = []
    for token in range(TOKENS):
        changed = x.clone()
        changed[token] += 1
        moved = (outputs(changed) != before).any(dim=1).sum()
        rows.append(
            {
                "token": token,
                "outputs it moves": int(moved),
                "sum of its row, one draw": float(one_draw[token]),
                "sum of its row, mean": float(mean[token]),
            }
        )
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    moved = [row["outputs it moves"] for row in rows] == list(range(TOKENS, 0, -1))
    return moved and all(abs(row["sum of its row, mean"] - 1) < 0.1 for row in rows)
