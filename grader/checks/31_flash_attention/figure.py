"""The figure: the four tokens that the lesson works out by hand, in blocks of two."""

from grader.authors import Figure, Start


def data(documented):
    """The exponentials of the keys, and the values; all queries are 1."""
    return {"powers": [2, 4, 1, 8], "values": [6, 3, 0, 9], "block": 2}


FIGURE = Figure(
    "What lies in the fast memory while a tile is worked on, and what is carried to the next one.",
    data,
    {"output / sum": Start("by_hand")},
)
