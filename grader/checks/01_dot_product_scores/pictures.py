"""The picture: the scores of the sentence."""

from grader.authors import Drawing
from grader.sentence import inputs

PICTURES = [
    Drawing(
        "Scores: attention_scores(inputs)",
        expected=lambda documented: documented["attention_scores_by_product"],
        ask=lambda learner: learner.attention_scores(inputs()),
        note="Raw scores: the same on both sides of the diagonal, and the rows do not sum to 1.",
    )
]
