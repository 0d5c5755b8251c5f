"""The figure: the lesson's prompt of six tokens with two children, each of which writes a token."""

from grader.authors import Figure, Start


def data(documented):
    """The sizes that are shown first."""
    return {"prompt": 6, "size": 4, "children": 2}


FIGURE = Figure(
    "The blocks that a prompt and its two children share, and the copy for the first who writes.",
    data,
    {"block tables": Start("tables")},
)
