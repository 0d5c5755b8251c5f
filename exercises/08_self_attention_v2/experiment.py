"""Does it matter how the weights are drawn before anything is learned?

    make experiment EX=08

Fifty standard normal tokens of growing size go through two layers as they
are drawn: torch.rand as in exercise 07, and nn.Linear. The scores are scaled
by the root of d_k = 64. Shown are how far they spread, and the mean over the
tokens of the largest weight.
"""

import torch

PLOT = "largest weight, rand"
CLAIM = (
    "With torch.rand the scores spread with d_in, until each token looks at "
    "one other alone. nn.Linear starts evenly, whatever d_in is."
)
SIZES, D_K, TOKENS = (4, 16, 64, 256), 64, 50


def look(queries: torch.Tensor, keys: torch.Tensor) -> tuple[float, float]:
    """The spread of the scaled scores, and the mean largest weight."""
    scores = queries @ keys.T / D_K**0.5
    largest = torch.softmax(scores, dim=-1).amax(dim=-1)
    return float(scores.std()), float(largest.mean())


def measure() -> list[dict[str, float]]:
    """One row for each d_in."""
    rows = []
    for d_in in SIZES:
        torch.manual_seed(123)
        x = torch.randn(TOKENS, d_in)
        rand = look(x @ torch.rand(d_in, D_K), x @ torch.rand(d_in, D_K))
        with torch.no_grad():
            to_query = torch.nn.Linear(d_in, D_K, bias=False)
            to_key = torch.nn.Linear(d_in, D_K, bias=False)
            linear = look(to_query(x), to_key(x))
        rows.append(
            {
                "d_in": d_in,
                "spread, Linear": linear[0],
                "largest weight, Linear": linear[1],
                "spread, rand": rand[0],
                "largest weight, rand": rand[1],
            }
        )
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    """Compares both at the largest d_in."""
    last = rows[-1]
    return (
        last["largest weight, rand"] > 0.9
        and max(row["largest weight, Linear"] for row in rows) < 0.1
        and last["spread, rand"] > 10 * rows[0]["spread, rand"]
    )
