"""The figure: the lesson's mask of five tokens with a window of three."""

from grader.authors import Figure, Start

NAMES = ("0", "1", "2", "3", "4")


def data(documented):
    """The sizes that are shown first."""
    return {"tokens": len(NAMES), "window": 3}


FIGURE = Figure("The mask of a window.", data, {"mask": Start("mask")})
