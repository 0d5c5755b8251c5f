"""The pictures: scores of equal vectors, which show the distance alone, and one token turned at six positions."""

import torch

from grader.authors import Drawing, expect, expect_shape

SIZE, POSITIONS, BASE = 4, 6, 100.0
PLACES = tuple(f"at {position}" for position in range(POSITIONS))


def tables():
    """cos and sin, (6, 4) each."""
    angles = torch.arange(POSITIONS)[:, None] * BASE ** (-torch.arange(0, SIZE, 2) / SIZE).repeat(2)
    return angles.cos(), angles.sin()


def turned(token):
    """A token at each of the six positions, turned: (6, 4)."""
    first, second = torch.tensor(token).chunk(2)
    cos, sin = tables()
    return torch.tensor(token) * cos + torch.cat([-second, first]) * sin


def scores():
    return turned([1.0] * SIZE) @ turned([1.0] * SIZE).T


def ask_scores(learner):
    by = learner.rope_angles(SIZE, POSITIONS, BASE)
    expect([tuple(table.shape) for table in by], [(POSITIONS, SIZE)] * 2, "the shapes of cos and sin")
    rows = learner.apply_rope(torch.ones(1, 1, POSITIONS, SIZE), *by)
    expect_shape(rows, (1, 1, POSITIONS, SIZE))
    return rows[0, 0] @ rows[0, 0].T


def ask_turned(learner):
    rows = learner.apply_rope(torch.tensor([1.0, 2.0, 3.0, 4.0]).repeat(1, 1, POSITIONS, 1), *tables())
    expect_shape(rows, (1, 1, POSITIONS, SIZE))
    return rows[0, 0]


PICTURES = [
    Drawing(
        "Scores of one vector at six positions, with your angles",
        expected=lambda documented: scores(),
        ask=ask_scores,
        rows=PLACES,
        columns=PLACES,
        note="Each diagonal holds one number: the score depends on the distance alone.",
    ),
    Drawing(
        "The token 1, 2, 3, 4 at six positions, turned",
        expected=lambda documented: turned([1.0, 2.0, 3.0, 4.0]),
        ask=ask_turned,
        rows=PLACES,
        columns=tuple(f"x{i}" for i in range(SIZE)),
        note="Numbers 0 and 2 are a pair, and so are 1 and 3.",
    ),
]
