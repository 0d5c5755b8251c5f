"""The figure: the trained model, and the pattern that it goes on with in the lesson."""

import torch

from grader.authors import Figure, Start, pack, trained_state

TRAINED = {"vocabulary": 32, "width": 64, "context": 64, "layers": 2, "heads": 4}
FIRST = 10  # tokens of the documented sequence that are given; the model finds the others


def data(documented):
    """The model with its parameters one after the other, and the tokens that are shown first."""
    parameters = torch.cat([one.flatten() for one in trained_state("15_induction_heads").values()])
    sequence = documented["continued"][0].long()
    facts = {"tokens": sequence[:FIRST], "more": len(sequence) - FIRST}
    return {"trained": {"sizes": TRAINED, "half": pack(parameters.half())}, **facts}


FIGURE = Figure("How the trained model goes on with a pattern.", data, {"the model goes on": Start("continued")})
