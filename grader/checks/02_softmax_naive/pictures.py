"""The pictures: the scores of the sentence as weights, by both softmaxes."""

from grader.authors import Drawing
from grader.sentence import inputs


def scores():
    """The scores of every token with every token: (6, 6)."""
    return inputs() @ inputs().T


PICTURES = [
    Drawing(
        "Weights, column by column: softmax_naive(scores)",
        expected=lambda documented: documented["stable_weights_of_all"].T,  # the scores are symmetric
        ask=lambda learner: learner.softmax_naive(scores()),
        note="Each column sums to 1.",
    ),
    Drawing(
        "Weights, row by row: softmax_stable(scores, dim=-1)",
        expected=lambda documented: documented["stable_weights_of_all"],
        ask=lambda learner: learner.softmax_stable(scores(), -1),
        note="Each row sums to 1.",
    ),
]
