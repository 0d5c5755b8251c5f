"""The figure: the six tokens, whose weights and context vectors the source document prints."""

from grader.authors import Figure, Start
from grader.sentence import JOURNEY, TOKENS, inputs


def data(documented):
    """The embedded tokens; the figure computes the rest."""
    return {"inputs": inputs(), "tokens": TOKENS, "journey": JOURNEY}


FIGURE = Figure(
    "The weights of “journey”, and its context vector.",
    data,
    {
        "weights": Start("weights_of_journey"),
        "context vector": Start("context_vector_of_journey"),
    },
)
