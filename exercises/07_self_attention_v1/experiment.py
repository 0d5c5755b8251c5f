"""What does a layer of attention notice: the order of tokens, or one of them?

    make experiment EX=07

The sentence goes through one layer, then once more after a change. For each
token, wherever it stands now, its context vector is compared with the one
before. The largest and the smallest of these six changes are shown.
"""

import torch

CLAIM = (
    "Shuffled tokens get the same context vectors: attention knows no order. "
    "One changed token moves the context vector of every other one."
)
INPUTS = torch.tensor(
    [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ]
)
SHUFFLED = [3, 0, 5, 1, 4, 2]


def attention(x: torch.Tensor) -> torch.Tensor:
    """A layer with the matrices of the lesson, (T, 3) to (T, 2)."""
    torch.manual_seed(123)
    W_query, W_key, W_value = (torch.rand(3, 2) for _ in range(3))
    scores = (x @ W_query) @ (x @ W_key).T
    return torch.softmax(scores / 2**0.5, dim=-1) @ (x @ W_value)


def measure() -> list[dict[str, float | str]]:
    """One row for each change of the sentence."""
    before = attention(INPUTS)
    changed = INPUTS.clone()
    changed[5] += 0.5
    after = {
        "six tokens shuffled": attention(INPUTS[SHUFFLED]) - before[SHUFFLED],
        "0.5 added to step": attention(changed) - before,
    }
    rows = []
    for what, difference in after.items():
        moved = difference.norm(dim=1)
        row = {"change": what, "smallest change": float(moved.min())}
        rows.append(row | {"largest change": float(moved.max())})
    # What is left of a sum in another order is rounding.
    return [{k: v if isinstance(v, str) else round(v, 4) for k, v in row.items()} for row in rows]


def claim(rows: list[dict[str, float | str]]) -> bool:
    """Nothing moves in the first row, and everything in the second."""
    shuffled, changed = rows
    return shuffled["largest change"] == 0 and changed["smallest change"] > 0.01
