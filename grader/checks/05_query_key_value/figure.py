"""The figure: the sentence and the three matrices of seed 123, which the source document prints."""

import torch

from grader.authors import Figure, Start, manual_seed
from grader.sentence import JOURNEY, TOKENS, inputs


def data(documented):
    """The inputs (6, 3) and the three matrices (3, 2)."""
    manual_seed(123)
    weights = {name: torch.rand(3, 2) for name in ("W_query", "W_key", "W_value")}
    return {"inputs": inputs(), "tokens": TOKENS, "journey": JOURNEY, **weights}


FIGURE = Figure(
    "Three matrices, and the query, the key and the value that they make of “journey”.",
    data,
    {
        "W_query": Start("W_query"),
        "W_key": Start("W_key"),
        "W_value": Start("W_value"),
        "query": Start("query_2"),
        "key": Start("key_2_of_002"),
    },
)
