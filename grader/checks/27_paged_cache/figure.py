"""The figure: the lesson's prompt of six tokens with two children, after each of the three has written a token."""

from grader.authors import Figure, Start


def data(documented):
    """The sizes that are shown first."""
    return {"prompt": 6, "size": 4, "children": 2}


FIGURE = Figure(
    "The block tables of a prompt and its two children.",
    data,
    {"block tables": Start("tables")},
)
