"""How many pairs does a state of 64 rows remember?

    make experiment EX=27

Random pairs of a key and a value, 64 numbers each, are written one after the other, and then each key is asked for its
value. A pair is recalled if, of all values, its own is the one most like the answer. "sum" is the delta rule
without its correction; the delta rule has no decay and β = 1. In the columns "again" there are only 32 different keys,
each written many times, and the newest value counts.
"""

import torch
from torch.nn import functional as F

CLAIM = "The delta rule recalls about as many pairs as its state has rows, and only it replaces old values by new ones."

SIZE, TRIALS, POOL = 64, 16, 32
PAIRS = (32, 64, 128, 256, 512)


def recalled(answers: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Which answers are most like their own value: (N,) of 0 and 1."""
    likeness = answers @ F.normalize(values, dim=-1).mT  # (N, N)
    return (likeness.argmax(dim=-1) == torch.arange(len(values))).double()


def delta_state(keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """The state after all pairs, β = 1 and no decay: one system for all corrections."""
    system = (keys @ keys.mT).tril(-1) + torch.eye(len(keys), dtype=keys.dtype)
    return keys.mT @ torch.linalg.solve_triangular(system, values, upper=False)


def trial(pairs: int) -> dict[str, torch.Tensor]:
    """Which of so many random pairs each of them recalls."""
    keys, values = torch.randn(pairs, SIZE, dtype=torch.float64), torch.randn(pairs, SIZE, dtype=torch.float64)
    features, unit = F.elu(keys) + 1, F.normalize(keys, dim=-1)
    weights = features @ features.mT
    again = unit[torch.arange(pairs) % POOL]  # the same keys over and over
    newest = slice(-POOL, None)
    answers = {
        "linear": weights / weights.sum(dim=-1, keepdim=True) @ values,
        "sum": unit @ (unit.mT @ values),
        "delta": unit @ delta_state(unit, values),
    }
    found = {name: recalled(answer, values) for name, answer in answers.items()}
    found["again: sum"] = recalled(again @ (again.mT @ values), values)[newest]
    found["again: delta"] = recalled(again @ delta_state(again, values), values)[newest]
    return found


def measure() -> list[dict[str, float]]:
    """The percentage of pairs recalled, over TRIALS draws."""
    torch.manual_seed(123)
    rows = []
    for pairs in PAIRS:
        trials = [trial(pairs) for _ in range(TRIALS)]
        shares = {name: torch.cat([one[name] for one in trials]).mean() for name in trials[0]}
        rows.append({"pairs": pairs} | {name: round(100 * float(share), 1) for name, share in shares.items()})
    return rows


def claim(rows: list[dict[str, float]]) -> bool:
    last = rows[-1]
    keeps = 0.75 * SIZE < last["delta"] / 100 * last["pairs"] < 1.25 * SIZE
    return keeps and last["again: delta"] > 90 > 20 > last["again: sum"]
