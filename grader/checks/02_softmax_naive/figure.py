"""The figure: the scores of "journey", whose softmax the source document prints."""

from grader.authors import Figure, Start
from grader.sentence import JOURNEY, TOKENS, inputs


def data(documented):
    """The scores of "journey" with all six tokens."""
    return {"scores": inputs() @ inputs()[JOURNEY], "tokens": TOKENS, "journey": JOURNEY}


FIGURE = Figure(
    "Six scores, and the weights that softmax makes of them.",
    data,
    {
        "softmax_naive": Start("naive_weights"),
        "softmax_stable": Start("stable_weights"),
    },
)
