"""What does autograd keep for the way back: with a table, with tiles, and with attention as one operation?

One head of 32 numbers, float32, blocks of 64. A hook sees whatever autograd saves and counts the bytes of each piece of
memory once. The tiles use a logsumexp that is known before, so that one line makes a tile.
"""

import torch
from torch.nn import functional as F

CLAIM = "Tiles alone save nothing on the way back; as one operation the bytes grow with T, not with its square."

SIZE, BLOCK = 32, 64


def table(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return torch.softmax(queries @ keys.mT, dim=-1) @ values


def tiles(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        log_sums = torch.logsumexp(queries @ keys.mT, dim=-1, keepdim=True)
    rows = []
    for some, log_sum in zip(queries.split(BLOCK, dim=-2), log_sums.split(BLOCK, dim=-2), strict=True):
        pairs = zip(keys.split(BLOCK, dim=-2), values.split(BLOCK, dim=-2), strict=True)
        rows.append(sum(torch.exp(some @ near.mT - log_sum) @ held for near, held in pairs))
    return torch.cat(rows, dim=-2)


def one_operation(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(queries, keys, values, scale=1.0)


def kept(attention, inputs: list[torch.Tensor]) -> float:
    """KiB that autograd saves in one forward pass, the inputs themselves left out."""
    saved = {}

    def see(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(see, lambda tensor: tensor):
        output = attention(*inputs)
    given = {tensor.untyped_storage().data_ptr() for tensor in inputs}
    assert output.requires_grad
    return sum(size for place, size in saved.items() if place not in given) / 2**10


def measure() -> list[dict[str, float]]:
    torch.manual_seed(123)
    rows = []
    for tokens in (128, 256, 512, 1024):
        inputs = [torch.randn(1, 1, tokens, SIZE, requires_grad=True) for _ in range(3)]
        ways = {"table KiB": table, "tiles KiB": tiles, "one operation KiB": one_operation}
        rows.append({"tokens": tokens} | {name: kept(way, inputs) for name, way in ways.items()})
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    grown = {name: rows[-1][name] / rows[-2][name] for name in rows[0]}
    no_less = all(row["tiles KiB"] >= row["table KiB"] for row in rows)
    return no_less and grown["table KiB"] > 3.5 and grown["one operation KiB"] < 2.1
