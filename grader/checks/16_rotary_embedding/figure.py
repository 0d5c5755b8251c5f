"""The figure: the lesson's token that holds 1, 2, 3, 4, with its base of 100."""

import torch

from grader.authors import Curves, Figure, Point, Points, Start

TOKEN, BASES, FARTHEST = (1.0, 2.0, 3.0, 4.0), (100, 10_000), 32
QUERY, KEY = 2, 0  # positions shown first


def data(documented):
    """One token of four numbers, and the bases to choose from."""
    return {"token": torch.tensor(TOKEN), "bases": BASES}


def turned(position):
    """The pairs of the token as complex numbers, each turned by the angle of its clock at a position."""
    half = len(TOKEN) // 2
    pairs = torch.complex(torch.tensor(TOKEN[:half]).double(), torch.tensor(TOKEN[half:]).double())
    angles = position * BASES[0] ** -(torch.arange(half).double() / half)
    return pairs * torch.polar(torch.ones(half).double(), angles)


def clocks():
    """Each pair of the query and of the key as a hand, and the score over their distance."""
    reach = turned(0).abs().max().item()
    planes = []
    for pair, (q, k) in enumerate(zip(turned(QUERY).tolist(), turned(KEY).tolist())):
        query = Point(q.real, q.imag, "query", "arrow")
        key = Point(k.real, k.imag, "key", "arrow", "other")
        name = f"Clock {pair}: {BASES[0] ** (-2 * pair / len(TOKEN)):.3f} rad a position"
        planes.append(Points(name, [query, key], (-reach, -reach), (reach, reach)))
    distances = range(FARTHEST + 1)
    scores = [(turned(m) * turned(0).conj()).real.sum().item() for m in distances]
    return [*planes, Curves("Score over the distance", distances, {"score": scores}, "distance", at=QUERY - KEY)]


FIGURE = Figure(
    "A token, turned to position 2.",
    data,
    {
        "query, turned": Start("turned_at_2"),
        "key, turned": Start("turned", take=lambda numbers: numbers[0]),
    },
    clocks,
)
