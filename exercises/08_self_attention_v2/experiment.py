"""Does it matter how the weights are drawn before anything is learned?

    make experiment EX=08

Fifty standard normal tokens of growing size go through two layers as they
are drawn: nn.Linear, and torch.rand as in exercise 07. The scores are scaled
by the root of d_k = 64. Shown are how far they spread, and the mean over the
tokens of the largest weight. Then the numbers of torch.rand are taken apart:
"all ½" is their mean alone, and "rand − ½" is what is left without it.
"""

import torch

CLAIM = (
    "The mean ½ that all weights of torch.rand share spreads the scores, until "
    "each token looks at one other alone. nn.Linear starts evenly."
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
        to_query, to_key = torch.rand(d_in, D_K), torch.rand(d_in, D_K)
        rand = look(x @ to_query, x @ to_key)
        centred = look(x @ (to_query - 0.5), x @ (to_key - 0.5))
        half = x @ torch.full((d_in, D_K), 0.5)
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
                "spread, all ½": look(half, half)[0],
                "spread, rand − ½": centred[0],
            }
        )
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    """The mean alone gives nearly the whole spread, at every d_in."""
    explained = all(abs(row["spread, all ½"] / row["spread, rand"] - 1) < 0.1 for row in rows)
    smaller = all(row["spread, rand − ½"] < row["spread, rand"] / 10 for row in rows)
    even = max(row["largest weight, Linear"] for row in rows) < 0.1 < 0.9 < rows[-1]["largest weight, rand"]
    return explained and smaller and even
