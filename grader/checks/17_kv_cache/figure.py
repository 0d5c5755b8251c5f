"""The figure: the sentence and the layer of seed 123, whose output, keys and values the lesson prints."""

import torch

from grader.authors import Curves, Figure, Start, manual_seed
from grader.sentence import TOKENS, inputs

HEADS = ("head 0", "head 1")
LONGEST = 64  # tokens on the curve


def data(documented):
    """The inputs, the three projections' weights (2, 3), and the output projection."""
    manual_seed(123)
    layers = [torch.nn.Linear(3, 2, bias=False).weight for _ in range(3)]
    out = torch.nn.Linear(2, 2)
    facts = {"out_weight": out.weight, "out_bias": out.bias, "heads": len(HEADS)}
    return {"inputs": inputs(), "tokens": TOKENS, "layers": layers, **facts}


def work():
    """The multiply-adds of all steps so far: projections of the new tokens, their scores and weighted sums."""
    d_out, d_in = data({})["layers"][0].shape
    steps = range(1, LONGEST + 1)

    def so_far(fresh):
        each = torch.tensor([fresh(t) * d_out * (3 * d_in + d_out) + 2 * fresh(t) * t * d_out for t in steps])
        return each.cumsum(0).tolist()

    curves = {"with a cache": so_far(lambda t: 1), "without": so_far(lambda t: t)}
    return [Curves("Multiply-adds so far", list(steps), curves, "tokens", at=len(TOKENS), log=True)]


FIGURE = Figure(
    "The output after six steps, and what the cache holds.",
    data,
    {
        "output": Start("output", rows=TOKENS),
        "keys in the cache": Start("keys", rows=HEADS, columns=TOKENS),
        "values in the cache": Start("values", rows=HEADS, columns=TOKENS),
    },
    work,
)
