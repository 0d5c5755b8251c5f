"""Is CausalHead another kind of attention, or causal attention whose layers have other names?

What CausalHead gives before its layer `out`, for eight random tokens, against torch's own causal attention: with the
names as they are, with key and query in each other's place, and with the scores scaled besides.
"""

import torch
from torch.nn import functional as F

CLAIM = "CausalHead is unscaled causal attention in which the layer called key asks and the one called query is asked."

TOKENS, SIZE, HEAD_SIZE = 8, 32, 16


def as_the_lesson_says(key: torch.Tensor, query: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Row i of the scores belongs to key i, and the columns after i are hidden. One row after the other."""
    rows = []
    for i in range(TOKENS):
        weights = torch.softmax(query[: i + 1] @ key[i], dim=0)  # (i + 1,)
        rows.append(weights @ value[: i + 1])
    return torch.stack(rows)


def measure() -> list[dict]:
    torch.manual_seed(1337)
    x = torch.randn(TOKENS, SIZE)
    key, query, value = (torch.nn.Linear(SIZE, HEAD_SIZE)(x).detach() for _ in range(3))
    expected = as_the_lesson_says(key, query, value)
    ways = {
        "the names as they are": F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=1.0),
        "key and query swapped": F.scaled_dot_product_attention(key, query, value, is_causal=True, scale=1.0),
        "swapped and scaled": F.scaled_dot_product_attention(key, query, value, is_causal=True),
    }
    return [
        {"causal attention": way, "largest difference": round(float((given - expected).abs().max()), 4)}
        for way, given in ways.items()
    ]


def claim(rows: list[dict]) -> bool:
    as_they_are, swapped, scaled = (row["largest difference"] for row in rows)
    return swapped == 0 and as_they_are > 0.1 and scaled > 0.1
