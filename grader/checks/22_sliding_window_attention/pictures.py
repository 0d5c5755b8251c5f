"""The pictures: the mask, and the weights of the sentence with a window of three."""

import torch

from grader.authors import Drawing, expect_shape
from grader.sentence import inputs

TOKENS, WINDOW = 6, 3


def band() -> torch.Tensor:
    """Where a token may look: (6, 6) of True and False."""
    return torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril().triu(1 - WINDOW)


def query_and_key():
    """The sentence, spread out so that the weights differ, with room for one-hot values: each (1, 1, 6, 6)."""
    spread = 4 * (inputs() - inputs().mean(dim=0))
    return torch.nn.functional.pad(spread, (0, TOKENS - spread.shape[-1]))[None, None]


def expected_mask(documented):
    return band().float()


def ask_mask(learner):
    mask = learner.sliding_window_mask(TOKENS, WINDOW)
    expect_shape(mask, (TOKENS, TOKENS))
    return mask.float()


def expected_weights(documented):
    scores = (query_and_key() @ query_and_key().mT / TOKENS**0.5).masked_fill(~band(), -torch.inf)
    return torch.softmax(scores, dim=-1)[0, 0]


def ask_weights(learner):
    values = torch.eye(TOKENS)[None, None]  # one-hot, so that the output is the weights
    output = learner.sliding_window_attention(query_and_key(), query_and_key(), values, WINDOW)
    expect_shape(output, (1, 1, TOKENS, TOKENS))
    return output[0, 0]


PICTURES = [
    Drawing("The mask of a window of 3", expected_mask, ask_mask, note="A band below the diagonal, three wide."),
    Drawing(
        "The weights of a window of 3",
        expected_weights,
        ask_weights,
        note="The values are one-hot, so that the output is the weights.",
    ),
]
