"""Where does the induction head of trained.pt look when the period changes?

1,024 sequences of random tokens that repeat, with one period after the other. For the head that looks back and for the
one that completes the pattern: the distance at which each looks most in the second half, and the mean weight there.
"""

import torch
from torch.nn import functional as F

CLAIM = "Head (0, 1) looks one back, head (1, 0) period − 1 back, whatever the period is."

STATE = torch.load(__file__.replace("experiment.py", "trained.pt"), weights_only=True)
HEADS, BATCH, VOCABULARY = 4, 1024, 32
LOOKING_BACK, COMPLETING = (0, 1), (1, 0)  # layer and head


def attention_weights(tokens: torch.Tensor) -> list[torch.Tensor]:
    """The attention weights of both layers, each (B, HEADS, T, T)."""
    count = tokens.shape[1]
    hidden = torch.full((count, count), -torch.inf).triu(1)
    x = STATE["token_embedding.weight"][tokens] + STATE["position_embedding.weight"][:count]
    found = []
    for layer in range(2):
        matrices = [STATE[f"layers.{layer}.{name}.weight"] for name in ("W_query", "W_key", "W_value", "out_proj")]
        queries, keys, values = (F.linear(x, w).unflatten(-1, (HEADS, -1)).transpose(1, 2) for w in matrices[:3])
        found.append(torch.softmax(queries @ keys.mT / queries.shape[-1] ** 0.5 + hidden, dim=-1))
        x = x + F.linear((found[-1] @ values).transpose(1, 2).flatten(2), matrices[3])
    return found


def strongest(weights: torch.Tensor, period: int) -> tuple[int, float]:
    """At which distance one head (B, T, T) looks most in the second half, and the mean weight there."""
    second = torch.arange(period, 2 * period)
    means = [float(weights[:, second, second - distance].mean()) for distance in range(period + 1)]
    best = max(range(period + 1), key=means.__getitem__)
    return best, means[best]


def measure() -> list[dict[str, float]]:
    generator = torch.Generator().manual_seed(23)
    rows = []
    for period in (4, 8, 12, 16, 24, 32):
        tokens = torch.randint(VOCABULARY, (BATCH, period), generator=generator).repeat(1, 2)
        with torch.no_grad():
            weights = attention_weights(tokens)
        back, _ = strongest(weights[LOOKING_BACK[0]][:, LOOKING_BACK[1]], period)
        stripe, there = strongest(weights[COMPLETING[0]][:, COMPLETING[1]], period)
        rows.append({"period": period, "(0, 1) looks back": back, "(1, 0) looks back": stripe, "weight there": there})
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    return all(row["(0, 1) looks back"] == 1 and row["(1, 0) looks back"] == row["period"] - 1 for row in rows)
