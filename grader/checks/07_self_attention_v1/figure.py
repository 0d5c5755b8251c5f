"""The figure: the sentence and the weights of seed 123, whose context vectors the source document prints."""

import torch

from grader.authors import Figure, Start, manual_seed
from grader.sentence import JOURNEY, TOKENS, inputs


def data(documented):
    """The inputs (6, 3) and the three weight matrices (3, 2), in the order in which they are drawn."""
    manual_seed(123)
    weights = {name: torch.rand(3, 2) for name in ("W_query", "W_key", "W_value")}
    return {"inputs": inputs(), "tokens": TOKENS, "journey": JOURNEY, **weights}


FIGURE = Figure(
    "The way of “journey” to its context vector.",
    data,
    {"context vector": Start("context_vectors", take=lambda numbers: numbers[[JOURNEY]])},
)
