"""How many products does a layer of attention start, and what is the largest tensor between them?

The same layer, with 8 heads of 16 numbers, written three ways: head after head as in exercise 12, all heads at once
as in exercise 13, and fused. What torch runs is counted at its dispatcher.
"""

import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

CLAIM = "Fused takes 3 calls in place of 41 or 6, and its largest tensor grows with T, not with its square."

HEADS, HEAD_DIM = 8, 16
SIZE = HEADS * HEAD_DIM
PRODUCTS = ("mm", "addmm", "bmm")
TOKENS = (128, 256, 512)


class Record(TorchDispatchMode):
    """Counts products of matrices, and remembers the bytes of the largest tensor of all."""

    def __init__(self):
        super().__init__()
        self.products = self.largest = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = function.overloadpacket.__name__
        self.products += name in PRODUCTS or "attention" in name
        given = {one.untyped_storage().data_ptr() for one in args if isinstance(one, torch.Tensor)}
        for made in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(made, torch.Tensor) and made.untyped_storage().data_ptr() not in given:  # a view makes none
                self.largest = max(self.largest, made.nbytes)
        return result


def by_hand(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    future = torch.ones(queries.shape[-2], keys.shape[-2], dtype=torch.bool).triu(1)
    return torch.softmax((queries @ keys.mT / HEAD_DIM**0.5).masked_fill(future, -torch.inf), dim=-1) @ values


def fused(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(queries, keys, values, is_causal=True)


def layer(x: torch.Tensor, rows: torch.Tensor, out: torch.Tensor, way: str) -> torch.Tensor:
    """One layer for x (1, T, SIZE). rows: W_query, W_key and W_value, one on the other, (3 * SIZE, SIZE)."""
    if way == "heads":
        parts = rows.unflatten(0, (3, HEADS, HEAD_DIM))
        return F.linear(torch.cat([by_hand(*(F.linear(x, w) for w in parts[:, j])) for j in range(HEADS)], dim=-1), out)
    projected = F.linear(x, rows).chunk(3, dim=-1) if way == "fused" else [F.linear(x, w) for w in rows.chunk(3)]
    queries, keys, values = (part.unflatten(-1, (HEADS, HEAD_DIM)).transpose(1, 2) for part in projected)
    return F.linear((fused if way == "fused" else by_hand)(queries, keys, values).transpose(1, 2).flatten(2), out)


def measure() -> list[dict[str, float]]:
    torch.manual_seed(123)
    rows, out = torch.randn(3 * SIZE, SIZE) / SIZE**0.5, torch.randn(SIZE, SIZE) / SIZE**0.5
    table = []
    for way in ("heads", "table", "fused"):
        row = {"way": way, "calls": 0}
        for tokens in TOKENS:
            with torch.no_grad(), Record() as seen:
                layer(torch.randn(1, tokens, SIZE), rows, out, way)
            row |= {"calls": seen.products, f"KiB at {tokens} tokens": seen.largest / 2**10}
        table.append(row)
    return table


def claim(rows: list[dict[str, float]]) -> bool:
    last, before = (f"KiB at {tokens} tokens" for tokens in TOKENS[:-3:-1])
    grown = {row["way"]: row[last] / row[before] for row in rows}
    return [row["calls"] for row in rows] == [41, 6, 3] and grown["table"] > 3.9 and grown["fused"] < 2.1
