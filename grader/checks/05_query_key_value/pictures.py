"""The picture: queries, keys and values of the sentence. There are no weights yet."""

import torch

from grader.authors import Drawing, Mismatch, manual_seed
from grader.sentence import inputs


def matrices(documented):
    """The printed W_query, W_key and W_value of seed 123, each (3, 2)."""
    return [documented[name].float() for name in ("W_query", "W_key", "W_value")]


def drawn():
    """The same, with all their digits."""
    manual_seed(123)
    return [torch.rand(3, 2) for _ in range(3)]


def projected(learner):
    """The learner's queries, keys and values side by side: (6, 6)."""
    result = learner.project(inputs(), *drawn())
    if not isinstance(result, (list, tuple)) or [getattr(part, "shape", None) for part in result] != [(6, 2)] * 3:
        raise Mismatch("the result is not three matrices of shape (6, 2): queries, keys, values")
    return torch.cat(list(result), dim=-1)


PICTURES = [
    Drawing(
        "Queries, keys, values: project(inputs, …)",
        expected=lambda documented: torch.cat([inputs() @ matrix for matrix in matrices(documented)], dim=-1),
        ask=projected,
        columns=("q1", "q2", "k1", "k2", "v1", "v2"),
        note="Each token's query, key and value, side by side.",
    )
]
