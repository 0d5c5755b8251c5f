"""The pictures: the weights of the sentence, made of the learner's maxima and sums, and of two merged blocks."""

import torch

from grader.authors import Drawing, expect_shape
from grader.sentence import inputs

TOKENS = 6
HALF = TOKENS // 2


def scores():
    """Scores of every token with every token, spread out a little: (6, 6)."""
    return 4 * (inputs() - inputs().mean(dim=0)) @ (inputs() - inputs().mean(dim=0)).T


def expected(documented):
    return torch.softmax(scores(), dim=-1)


def ask_online(learner):
    largest, total = learner.online_max_and_sum(scores(), 2)
    expect_shape(largest, (TOKENS,))
    expect_shape(total, (TOKENS,))
    return torch.exp(scores() - largest[:, None]) / total[:, None]


def block(first: int, last: int):
    """Maximum, sum and output of the keys from first to last − 1; the values are one-hot, so the output is weights."""
    part = scores()[:, first:last]
    largest = part.amax(dim=-1)
    values = torch.eye(TOKENS)[first:last]
    return largest, torch.exp(part - largest[:, None]).sum(dim=-1), torch.softmax(part, dim=-1) @ values


def ask_merged(learner):
    _, _, output = learner.merge_blocks(*block(0, HALF), *block(HALF, TOKENS))
    return output


PICTURES = [
    Drawing(
        "exp(score − maximum) / sum, with your maximum and sum",
        expected,
        ask_online,
        note="Each row sums to 1 where both are right.",
    ),
    Drawing(
        "Two blocks of three tokens, merged",
        expected,
        ask_merged,
        note="The values are one-hot, so that the merged output is the weights.",
    ),
]
