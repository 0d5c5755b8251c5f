"""The pictures: the triangle of averages, as weights and as the loop applies them."""

import torch

from grader.authors import Drawing

TOKENS = 6


def triangle(documented):
    """The first six of the document's eight rows: they do not look at the other two."""
    return documented["weights_for_matmul"][:TOKENS, :TOKENS]


def applied(function):
    """What a function makes of one-hot tokens, as one sequence: its weights, (6, 6)."""
    return function(torch.eye(TOKENS)[None]).reshape(TOKENS, TOKENS)


PICTURES = [
    Drawing(
        "The triangle: averaging_weights(6)",
        expected=triangle,
        ask=lambda learner: learner.averaging_weights(TOKENS),
        note="No token counts those after it; each row sums to 1.",
    ),
    Drawing(
        "What average_loop does with one-hot tokens",
        expected=triangle,
        ask=lambda learner: applied(learner.average_loop),
        note="The loop is the same matrix, without one.",
    ),
    Drawing(
        "What average_softmax does with one-hot tokens",
        expected=triangle,
        ask=lambda learner: applied(learner.average_softmax),
        note="The same by a softmax over masked zeros.",
    ),
]
