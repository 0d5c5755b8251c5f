"""The figure: the six tokens, whose scores the source document prints."""

from grader.authors import Figure, Start
from grader.sentence import JOURNEY, TOKENS, inputs


def data(documented):
    """The embedded tokens. pair: those whose score is shown first; their first two numbers are the arrows."""
    return {"inputs": inputs(), "tokens": TOKENS, "pair": [0, JOURNEY]}


FIGURE = Figure(
    "The scores of every token with every token.",
    data,
    {"scores": Start("attention_scores_by_product")},
)
