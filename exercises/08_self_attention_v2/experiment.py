"""Does it matter how the weights are drawn before anything is learned?

    make experiment EX=08

Fifty standard normal tokens of growing size go through two layers as they
are drawn: nn.Linear, and torch.rand as in exercise 07. The scores are scaled
by the root of d_k = 64. Shown are how far they spread, and the mean over the
tokens of the largest weight. "rand − ½" is torch.rand without its mean.
"""

import torch

CLAIM = (
    "The mean ½ that all weights of torch.rand share spreads the scores, until "
    "each token looks at a single token. nn.Linear starts evenly."
)
SIZES, D_K, TOKENS = (16, 256), 64, 50


def look(queries: torch.Tensor, keys: torch.Tensor) -> tuple[float, float]:
    """The spread of the scaled scores, and the mean largest weight."""
    scores = queries @ keys.T / D_K**0.5
    largest = torch.softmax(scores, dim=-1).amax(dim=-1)
    return float(scores.std()), float(largest.mean())


def measure() -> list[dict[str, float | str]]:
    """One row for each way to draw, and each d_in."""
    seen: dict[str, list[tuple[float, float]]] = {"nn.Linear": [], "torch.rand": [], "rand − ½": []}
    for d_in in SIZES:
        torch.manual_seed(123)
        x = torch.randn(TOKENS, d_in)
        to_query, to_key = torch.rand(d_in, D_K), torch.rand(d_in, D_K)
        seen["torch.rand"].append(look(x @ to_query, x @ to_key))
        seen["rand − ½"].append(look(x @ (to_query - 0.5), x @ (to_key - 0.5)))
        with torch.no_grad():
            linear = torch.nn.Linear(d_in, D_K, bias=False), torch.nn.Linear(d_in, D_K, bias=False)
            seen["nn.Linear"].append(look(*(layer(x) for layer in linear)))
    return [
        {"drawn by": name, "d_in": d_in, "spread of the scores": spread, "largest weight": largest}
        for name, looks in seen.items()
        for d_in, (spread, largest) in zip(SIZES, looks, strict=True)
    ]


def claim(rows: list[dict[str, float | str]]) -> bool:
    """Without its mean torch.rand spreads the scores far less, at every d_in."""
    spread = {(row["drawn by"], row["d_in"]): row["spread of the scores"] for row in rows}
    largest = {(row["drawn by"], row["d_in"]): row["largest weight"] for row in rows}
    smaller = all(spread["rand − ½", size] < spread["torch.rand", size] / 10 for size in SIZES)
    even = max(largest["nn.Linear", size] for size in SIZES) < 0.1 < 0.9 < largest["torch.rand", 16]
    return smaller and even
