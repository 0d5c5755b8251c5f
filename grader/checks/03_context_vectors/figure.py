"""The figure: the six tokens, whose weights and context vectors the source document prints."""

from grader.authors import Figure, Point, Points, Start
from grader.sentence import JOURNEY, TOKENS, inputs


def data(documented):
    """The embedded tokens; the figure computes the rest."""
    return {"inputs": inputs(), "tokens": TOKENS, "journey": JOURNEY}


def pulled():
    """The tokens in their first two dimensions, and the context vector that each pulls as its weight says."""
    tokens = inputs()
    weights = (tokens @ tokens[JOURNEY]).softmax(0)
    x, y, _ = (weights @ tokens).tolist()
    points = [
        Point(*place[:2], name, size=3 + 14 * weight, below=name == "starts", pulled_to=(((x, y), 14 * weight),))
        for place, name, weight in zip(tokens.tolist(), TOKENS, weights.tolist())
    ]
    cross = Point(x, y, "context", "cross")
    labels = {"x_label": "dimension 0", "y_label": "dimension 1"}
    return [Points("Tokens and their context vector", [*points, cross], **labels)]


FIGURE = Figure(
    "The weights of “journey”, and its context vector.",
    data,
    {
        "weights": Start("weights_of_journey", columns=TOKENS),
        "context vector": Start("context_vector_of_journey", columns=("0", "1", "2")),
    },
    pulled,
)
