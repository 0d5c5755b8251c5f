"""How much of a cache's memory is wasted by padding, and how much by blocks?

A batch of 64 sequences has between 1 and 1,024 tokens each, many short ones and a few long ones. In each row the same
tokens are kept in another way. A slot is room for the keys and values of one token; it is wasted if it holds none.
"""

import torch

CLAIM = "Padding wastes most of the memory, and a block wastes half of itself for each sequence."

SEQUENCES, LONGEST = 64, 1024
SIZES = (64, 32, 16, 8, 4, 1)


def sequence_lengths() -> torch.Tensor:
    """Lengths between 1 and LONGEST; half of them are below 32."""
    torch.manual_seed(123)
    powers = torch.rand(SEQUENCES) * torch.tensor(float(LONGEST)).log2()
    return powers.exp2().ceil().long()


def measure() -> list[dict[str, float | str]]:
    lengths = sequence_lengths()
    tokens, longest = int(lengths.sum()), int(lengths.max())
    kept = [("padded to the longest", SEQUENCES * longest, SEQUENCES)]
    for size in SIZES:
        blocks = int((lengths + size - 1).div(size, rounding_mode="floor").sum())
        kept.append((f"blocks of {size}", blocks * size, blocks))
    rows = []
    for name, slots, pieces in kept:
        wasted = slots - tokens
        row: dict[str, float | str] = {"memory": name, "wasted, %": round(100 * wasted / slots, 1)}
        rows.append(row | {"wasted per sequence": round(wasted / SEQUENCES, 1), "pieces": pieces})
    return rows


def claim(rows: list[dict[str, float | str]]) -> bool:
    padded, *paged = rows
    half_a_block = all(
        abs(float(row["wasted per sequence"]) - (size - 1) / 2) <= size / 4
        for row, size in zip(paged, SIZES, strict=True)
    )
    return float(padded["wasted, %"]) > 50 and half_a_block
