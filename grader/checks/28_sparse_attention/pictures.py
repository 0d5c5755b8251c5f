"""The picture: which keys each token selects, where many score the same."""

import torch

from grader.authors import Drawing, expect_shape

TOKENS, K = 16, 4


def scores() -> torch.Tensor:
    """Scores 0 … 3, (16, 16), as a relu and small whole numbers give them: equals in every row."""
    places = torch.arange(TOKENS)
    return ((5 * places[:, None] + 3 * places * places) % 7 - 3).clamp(min=0).float()


def table(rows: list[list[int]]) -> torch.Tensor:
    return torch.tensor([[float(place in row) for place in range(TOKENS)] for row in rows])


def expected(documented):
    rows = scores().tolist()
    best = [sorted(range(place + 1), key=lambda key, row=row: -row[key])[:K] for place, row in enumerate(rows)]
    return table(best)


def ask(learner):
    got = learner.top_keys(scores()[None], K)
    expect_shape(got, (1, TOKENS, K))
    return table(got[0].tolist())


PICTURES = [
    Drawing(
        "The 4 keys that each of 16 tokens selects",
        expected,
        ask,
        note="Four in each row, fewer in the first three, and never a key to come. Of equals, those further left.",
    )
]
