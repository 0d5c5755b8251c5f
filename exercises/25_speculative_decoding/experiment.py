"""How many tokens does a round give, for a draft that is right now and then?

A target and a draft whose distributions agree to the same degree after every token, so that each draft token is kept
with the same rate. Rounds are drawn and their tokens counted, beside the formula of task 4. The last row is a text of
which one half is easy (rate 1) and the other half hard (rate 0.6): 0.8 on average.
"""

import torch

CLAIM = "Tokens a round follow the formula at every even rate; uneven rates with the same mean give fewer."

DRAFTED, ROUNDS = 4, 40_000
TARGET = torch.tensor([27.0, 9.0, 3.0, 1.0], dtype=torch.float64) / 40
OVERLAP = 0.2  # of the target and its reverse


def drawn(probs: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """One token for each row of probs (N, V)."""
    return (probs.cumsum(dim=-1) <= numbers[:, None]).sum(dim=-1).clamp(max=probs.shape[-1] - 1)


def tokens_a_round(rate: float) -> float:
    """The mean over rounds, all of them drawn side by side; row i of the tables is row 0, moved by i."""
    wrong = (1 - rate) / (1 - OVERLAP)
    mixed = (1 - wrong) * TARGET + wrong * TARGET.flip(0)
    target, draft = (torch.stack([row.roll(i) for i in range(4)]) for row in (TARGET, mixed))
    numbers = torch.rand(2, DRAFTED, ROUNDS, dtype=torch.float64)
    before = torch.randint(0, 4, (ROUNDS,))
    going, total = torch.ones(ROUNDS, dtype=torch.bool), ROUNDS  # every round gives the token that is drawn last
    for place in range(DRAFTED):
        p, q = target[before], draft[before]
        token = drawn(q, numbers[0, place])
        at = (torch.arange(ROUNDS), token)
        going &= numbers[1, place] < p[at] / q[at]
        total += int(going.sum())
        before = token
    return total / ROUNDS


def formula(rate: float) -> float:
    return float(sum(rate**kept for kept in range(DRAFTED + 1)))


def measure() -> list[dict[str, float]]:
    torch.manual_seed(123)
    rows = [
        {"text": "even", "mean rate": rate, "tokens a round": tokens_a_round(rate), "formula": formula(rate)}
        for rate in (0.6, 0.8, 1.0)
    ]
    easy, hard = tokens_a_round(1.0), tokens_a_round(0.6)
    uneven = 2 / (1 / easy + 1 / hard)  # as many tokens in both halves, and more rounds in the hard one
    return [
        *rows,
        {"text": "half easy, half hard", "mean rate": 0.8, "tokens a round": uneven, "formula": formula(0.8)},
    ]


def claim(rows: list[dict[str, float]]) -> bool:
    *even, uneven = rows
    follow = all(abs(row["tokens a round"] - row["formula"]) < 0.04 for row in even)
    return follow and uneven["tokens a round"] < uneven["formula"] - 0.1
