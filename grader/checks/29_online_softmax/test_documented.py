"""The numbers that the lesson prints, for scores whose exponentials are halves, quarters and eighths."""

import math

import torch

from grader.authors import expect, task


def scores():
    """The logarithms of 2, 4, 1, 8, 2: (5,)."""
    return torch.tensor([2.0, 4.0, 1.0, 8.0, 2.0]).log()


def expect_parts(got, expected, names) -> None:
    """Each part of the answer is right to what it is called."""
    if not isinstance(got, (tuple, list)) or len(got) != len(names):
        expect(got, expected)  # says what it is instead
    for name, mine, theirs in zip(names, got, expected, strict=True):
        expect(mine, theirs, name)


@task(1)
def test_documented_online(learner, documented):
    """Your maximum and sum match the lesson's, two scores at a time and all five at once."""
    for block_size in (2, 5):
        got = learner.online_max_and_sum(scores(), block_size)
        expect_parts(got, (torch.tensor(math.log(8)), torch.tensor(2.125)), ("the maximum", "the sum"))
        expect(got[0], documented["maximum"], "the maximum")
        expect(got[1], documented["sum"], "the sum")


@task(2)
def test_documented_merge(learner, documented):
    """Merging the lesson's two blocks gives its maximum, sum and output, whichever comes first."""
    a = torch.tensor(math.log(4)), torch.tensor(1.5), torch.tensor([3.0, 0.0])
    b = torch.tensor(math.log(8)), torch.tensor(1.375), torch.tensor([0.0, 6.0])
    for parts in ((*a, *b), (*b, *a)):
        got = learner.merge_blocks(*parts)
        expected = torch.tensor(math.log(8)), torch.tensor(2.125), torch.tensor([18 / 17, 66 / 17])
        expect_parts(got, expected, ("the maximum", "the sum", "the output"))
        for mine, name in zip(got, ("merged_maximum", "merged_sum", "merged_output"), strict=True):
            expect(mine, documented[name], name.replace("merged_", "the "))
