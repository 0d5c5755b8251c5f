"""The figure: a layer 512 wide with 8 heads, whose parameters the lesson counts, and the cache of a large model."""

from grader.authors import Figure, Start

LARGE = {"layers": 32, "heads": 32, "head_size": 128, "bytes": 2}


def data(documented):
    """Sizes alone."""
    return {"width": 512, "heads": 8, "large": LARGE}


FIGURE = Figure(
    "The parameters of a layer whose 8 heads share 2 heads of keys and values.",
    data,
    {"parameters of one layer": Start("grouped_query")},
)
