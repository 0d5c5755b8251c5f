"""The figure: the lesson's example by hand, a token and the weight of a layer from 3 to 2."""

from grader.authors import Figure, Start


def data(documented):
    """The token (3), and the weight (2, 3) as the layer holds it."""
    return {"token": [1, 2, 3], "W": [[1, 0, 2], [0, 1, 0]]}


FIGURE = Figure("A weight as nn.Linear holds it, and turned.", data, {"output": Start("by_hand")})
