"""The figure: the sentence and the layers of seed 789, whose context vectors the source documents print."""

import torch

from grader.authors import Figure, Start, manual_seed
from grader.sentence import TOKENS, inputs


def data(documented):
    """The inputs (6, 3) and the weights of the three layers, each (2, 3), in the order in which they are drawn."""
    manual_seed(789)
    layers = {name: torch.nn.Linear(3, 2, bias=False).weight for name in ("W_query", "W_key", "W_value")}
    return {"inputs": inputs(), "tokens": TOKENS, "layers": layers, "first": ["W_query", 2, 0]}


FIGURE = Figure("The context vectors of the sentence.", data, {"context vectors": Start("context_vectors")})
