"""How far back does a token see, if each layer looks through a window of four?

Layers with random weights are stacked, each with a window of 4 tokens. Autograd says which of 24 tokens reach the last
one: those whose gradient is not 0.
"""

import torch
from torch.nn import functional as F

CLAIM = "Each layer lets a token see 3 tokens further back."

TOKENS, SIZE, WINDOW, LAYERS = 24, 16, 4, 7


def windowed(x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """One layer with its input added, for x (T, SIZE). Each row of `seen` holds the tokens that it may look at."""
    places = torch.arange(len(x))
    seen = (places <= places[:, None]) & (places[:, None] - places < WINDOW)
    queries, keys, values = (x @ matrix for matrix in weights)
    return x + F.scaled_dot_product_attention(queries[None], keys[None], values[None], attn_mask=seen)[0]


def measure() -> list[dict[str, float]]:
    torch.manual_seed(123)
    weights = torch.randn(LAYERS, 3, SIZE, SIZE, dtype=torch.float64) / SIZE**0.5
    start = torch.randn(TOKENS, SIZE, dtype=torch.float64)
    rows = []
    for layers in (1, 2, 3, LAYERS):
        x = out = start.clone().requires_grad_()
        for layer in range(layers):
            out = windowed(out, weights[layer])
        out[-1].square().sum().backward()
        rows.append({"layers": layers, "tokens seen": int((x.grad != 0).any(dim=1).sum())})
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    return all(row["tokens seen"] == 1 + row["layers"] * (WINDOW - 1) for row in rows)
