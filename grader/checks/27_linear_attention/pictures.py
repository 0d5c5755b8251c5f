"""The pictures: the weights of causal linear attention, and what keys read in a state of two rows."""

import torch

from grader.authors import Drawing, expect_shape
from grader.sentence import inputs

TOKENS = 6


def sentence():
    """The sentence, spread out so that the weights differ: (1, 1, 6, 3)."""
    return (4 * (inputs() - inputs().mean(dim=0)))[None, None]


def expected_weights(documented):
    features = torch.nn.functional.elu(sentence()) + 1
    weights = (features @ features.mT).tril()[0, 0]
    return weights / weights.sum(dim=-1, keepdim=True)


def ask_weights(learner):
    values = torch.eye(TOKENS)[None, None]  # one-hot, so that the output is the weights
    output = learner.causal_linear_attention(sentence(), sentence(), values, 2)
    expect_shape(output, (1, 1, TOKENS, TOKENS))
    return output[0, 0]


def keys():
    return torch.tensor([[[[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]]])


def ask_reading(learner):
    answer = learner.gated_delta_rule(
        keys(), keys(), torch.eye(3)[None, None], torch.zeros(1, 1, 3), torch.ones(1, 1, 3)
    )
    state = answer[1] if isinstance(answer, (tuple, list)) and len(answer) == 2 else answer
    expect_shape(state, (1, 1, 2, 3), "the last state")
    return keys()[0, 0] @ state[0, 0]


PICTURES = [
    Drawing(
        "The weights of causal linear attention, in chunks of 2",
        expected_weights,
        ask_weights,
        note="The values are one-hot, so that the output is the weights. No seam is seen between the chunks.",
    ),
    Drawing(
        "What three keys read in a state of two rows",
        lambda documented: documented["read_back"],
        ask_reading,
        note="The last pair is read without a fault. The pairs before it have paid for that.",
    ),
]
