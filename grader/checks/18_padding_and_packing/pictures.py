"""The pictures: the weights of the sentence in a row of eight places, and of two packed sentences."""

import torch

from grader.authors import Drawing, expect_shape
from grader.sentence import inputs

TOKENS, PLACES = 6, 8


def padded() -> torch.Tensor:
    """The sentence, spread out so that the weights differ, at the right of a row of 8 places: (1, 1, 8, 8)."""
    spread = 4 * (inputs() - inputs().mean(dim=0))
    return torch.nn.functional.pad(spread, (0, PLACES - spread.shape[-1], PLACES - TOKENS, 0))[None, None]


def expected_padded(documented):
    weights = torch.zeros(PLACES, PLACES)
    tokens = padded()[0, 0, PLACES - TOKENS :]
    weights[PLACES - TOKENS :, PLACES - TOKENS :] = torch.softmax(tokens @ tokens.T / PLACES**0.5, dim=-1)
    return weights


def ask_padded(learner):
    values = torch.eye(PLACES)[None, None]  # one-hot, so that the output is the weights
    output = learner.padded_attention(padded(), padded(), values, torch.tensor([TOKENS]), "left")
    expect_shape(output, (1, 1, PLACES, PLACES))
    return output[0, 0]


def packed() -> torch.Tensor:
    """The sentence cut after two tokens: two packed sequences, (6, 1, 6)."""
    spread = 4 * (inputs() - inputs().mean(dim=0))
    return torch.nn.functional.pad(spread, (0, TOKENS - spread.shape[-1]))[:, None]


def expected_packed(documented):
    weights = torch.zeros(TOKENS, TOKENS)
    for part in (slice(0, 2), slice(2, TOKENS)):
        tokens = packed()[part, 0]
        weights[part, part] = torch.softmax(tokens @ tokens.T / TOKENS**0.5, dim=-1)
    return weights


def ask_packed(learner):
    values = torch.eye(TOKENS)[:, None]
    starts = torch.tensor([0, 2, TOKENS], dtype=torch.int32)
    output = learner.packed_attention(packed(), packed(), values, starts)
    expect_shape(output, (TOKENS, 1, TOKENS))
    return output[:, 0]


PICTURES = [
    Drawing(
        "The weights of a sentence behind two places of padding",
        expected_padded,
        ask_padded,
        note="The first two rows and columns belong to no token: they are 0.",
    ),
    Drawing(
        "The weights of two packed sequences",
        expected_packed,
        ask_packed,
        note="Two squares on the diagonal: no token sees the other sequence.",
    ),
]
