"""The figure: the sentence and the three matrices of seed 123, which the source document prints."""

import torch

from grader.authors import Figure, Point, Points, Start, manual_seed
from grader.sentence import JOURNEY, TOKENS, inputs


def data(documented):
    """The inputs (6, 3) and the three matrices (3, 2)."""
    manual_seed(123)
    weights = {name: torch.rand(3, 2) for name in ("W_query", "W_key", "W_value")}
    return {"inputs": inputs(), "tokens": TOKENS, "journey": JOURNEY, **weights}


def places():
    """The queries and keys of all tokens in the plane, with a line between the two of one token."""
    tokens, given = inputs(), data({})
    queries, keys = (tokens @ given["W_query"]).tolist(), (tokens @ given["W_key"]).tolist()
    points = [Point(*query, "", size=3) for query in queries] + [Point(*key, "", look="other", size=3) for key in keys]
    line = ((tuple(keys[JOURNEY]), 1.0),)
    points[JOURNEY] = Point(*queries[JOURNEY], "query", size=7, pulled_to=line)
    points[len(TOKENS) + JOURNEY] = Point(*keys[JOURNEY], "key", look="other", size=7, below=True)
    numbers = [number for place in (*queries, *keys) for number in place]
    low, high = min(0, *numbers), max(1.5, *numbers)
    return [Points("Queries (full) and keys (open) of all tokens", points, (low, low), (high, high))]


FIGURE = Figure(
    "Three matrices, and the query and the key of “journey”.",
    data,
    {
        "W_query": Start("W_query"),
        "W_key": Start("W_key"),
        "W_value": Start("W_value"),
        "query": Start("query_2"),
        "key": Start("key_2_of_002"),
    },
    places,
)
