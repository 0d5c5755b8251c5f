"""The figure: the sentence as queries, keys and values, in blocks of four, whose output the lesson prints."""

from grader.authors import Figure, Start
from grader.sentence import TOKENS, inputs


def data(documented):
    """The embedded tokens; the figure computes the rest."""
    return {"inputs": inputs(), "tokens": TOKENS, "block": 4}


FIGURE = Figure(
    "What lies in the fast memory while a tile is worked on.",
    data,
    {"output": Start("sentence")},
)
