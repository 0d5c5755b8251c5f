"""The figure: the six tokens, whose scores the source document prints."""

from grader.authors import Figure, Point, Points, Start
from grader.sentence import JOURNEY, TOKENS, inputs


def data(documented):
    """The embedded tokens. pair: those whose score is shown first; their first two numbers are the arrows."""
    return {"inputs": inputs(), "tokens": TOKENS, "pair": [0, JOURNEY]}


def arrows():
    """The first two numbers of the two tokens whose score is shown first."""
    (a, b) = inputs()[[0, JOURNEY], :2].tolist()
    points = [Point(*a, "a", "arrow"), Point(*b, "b", "arrow", "other")]
    return [Points("Two arrows", points, (-1, -1))]


FIGURE = Figure(
    "The scores of every token with every token.",
    data,
    {"scores": Start("attention_scores_by_product", rows=TOKENS, columns=TOKENS)},
    arrows,
)
