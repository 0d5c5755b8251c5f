"""The picture: the attention weights of the sentence."""

from grader.authors import Drawing
from grader.sentence import inputs

PICTURES = [
    Drawing(
        "Attention weights: attention_weights(inputs)",
        expected=lambda documented: documented["attention_weights"],
        ask=lambda learner: learner.attention_weights(inputs()),
        note="Each row belongs to the token that attends, and sums to 1.",
    )
]
