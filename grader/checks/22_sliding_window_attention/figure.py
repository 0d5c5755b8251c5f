"""The figure: the lesson's mask of five tokens with a window of three."""

from grader.authors import Figure, Start

NAMES = ("0", "1", "2", "3", "4")


def data(documented):
    """The sizes of the lesson."""
    return {"tokens": len(NAMES), "window": 3}


FIGURE = Figure(
    "How far back the last of twelve tokens sees through three layers with a window of three.",
    data,
    {"mask": Start("mask")},
)
