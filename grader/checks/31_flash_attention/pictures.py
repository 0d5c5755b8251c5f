"""The pictures: the weights of the sentence, from tiles of four tokens, without and with a mask of the future."""

import torch

from grader.authors import Drawing, expect_shape
from grader.sentence import inputs

TOKENS, BLOCK = 6, 4


def query_and_key():
    """The sentence, spread out so that the weights differ, with room for one-hot values: (1, 1, 6, 6)."""
    spread = 4 * (inputs() - inputs().mean(dim=0))
    return torch.nn.functional.pad(spread, (0, TOKENS - spread.shape[-1]))[None, None]


def expected(documented):
    return torch.softmax(scores(), dim=-1)


def expected_causal(documented):
    future = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    return torch.softmax(scores().masked_fill(future, -torch.inf), dim=-1)


def scores():
    return (query_and_key() @ query_and_key().mT)[0, 0] / TOKENS**0.5


def ask(learner, causal: bool = False):
    values = torch.eye(TOKENS)[None, None]  # one-hot, so that the output is the weights
    output = learner.flash_attention(query_and_key(), query_and_key(), values, BLOCK, causal)
    expect_shape(output, (1, 1, TOKENS, TOKENS))
    return output[0, 0]


def ask_causal(learner):
    return ask(learner, causal=True)


NOTE = "The values are one-hot, so that the output is the weights. A wrong column or block of four points to a tile."
PICTURES = [
    Drawing("The weights, made in tiles of four", expected, ask, note=NOTE),
    Drawing("The same with causal=True", expected_causal, ask_causal, note=NOTE),
]
