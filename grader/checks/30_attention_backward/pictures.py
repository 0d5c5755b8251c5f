"""The pictures: the causal weights of the six words, and the gradient of their scores."""

import torch

from grader.authors import Drawing, expect_shape
from grader.sentence import inputs

TOKENS = 6


def tokens():
    """The sentence, spread out so that the weights differ: (1, 1, 6, 3)."""
    return 3 * (inputs() - inputs().mean(dim=0))[None, None]


def weights():
    scores = tokens() @ tokens().mT / tokens().shape[-1] ** 0.5
    return torch.softmax(scores.masked_fill(torch.ones(TOKENS, TOKENS).triu(1).bool(), -torch.inf), dim=-1)[0, 0]


def grad_weights():
    """What arrives if every context vector is asked to grow along its own token."""
    return (tokens() @ tokens().mT)[0, 0]


def expected_weights(documented):
    return weights()


def ask_weights(learner):
    _, got = learner.attention_forward(tokens(), tokens(), tokens(), True)
    expect_shape(got, (1, 1, TOKENS, TOKENS))
    return got[0, 0]


def expected_scores(documented):
    mean = (weights() * grad_weights()).sum(dim=-1, keepdim=True)
    return weights() * (grad_weights() - mean)


def ask_scores(learner):
    got = learner.softmax_backward(weights(), grad_weights())
    expect_shape(got, (TOKENS, TOKENS))
    return got


PICTURES = [
    Drawing("The causal weights", expected_weights, ask_weights, note="Above the diagonal every weight is exactly 0."),
    Drawing(
        "The gradient of the scores",
        expected_scores,
        ask_scores,
        note="Each row sums to 0: what one score gains, the others lose.",
    ),
]
