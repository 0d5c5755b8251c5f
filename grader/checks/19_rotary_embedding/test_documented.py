"""The numbers that the lesson prints. Its table of distances was measured by measure_distance.py beside it."""

import torch

from grader.authors import expect, expect_shape, task

DISTANCES = [0, 1, 4, 16, 64, 256]


def tables(base: float, head_dim: int, positions: int):
    """cos and sin, (positions, head_dim) each."""
    pairs = torch.arange(head_dim // 2, dtype=torch.float64).repeat(2)
    angles = torch.arange(positions)[:, None] * base ** (-2 * pairs / head_dim)
    return angles.cos().float(), angles.sin().float()


def expect_tables(got, expected) -> None:
    """cos and sin are right to 0.001."""
    if not isinstance(got, (tuple, list)) or len(got) != 2:
        expect(got, expected)  # says what it is instead
    for name, mine, theirs in zip(("cos", "sin"), got, expected, strict=True):
        expect(mine, theirs, name, tolerance=1e-3)


def example(tokens: int):
    """Tokens that hold 1, 2, 3, 4: (1, 1, tokens, 4)."""
    return torch.tensor([1.0, 2.0, 3.0, 4.0]).repeat(1, 1, tokens, 1)


@task(1)
def test_documented_angles(learner, documented):
    """Base 100 and four numbers a head: your cos and sin match the numbers in the lesson."""
    got = learner.rope_angles(4, 3, 100.0)
    expect_tables(got, tables(100.0, 4, 3))
    expect(got[0], documented["cos"], "cos")
    expect(got[1], documented["sin"], "sin")


@task(2)
def test_documented_turned(learner, documented):
    """Three tokens that hold 1, 2, 3, 4 are turned as in the lesson."""
    got = learner.apply_rope(example(3), *tables(100.0, 4, 3))
    expect_shape(got, (1, 1, 3, 4))
    expect(got[0, 0], documented["turned"])


@task(2, after=("documented_angles", "documented_turned"))
def test_documented_distances(learner, documented):
    """The score of two equal vectors falls with their distance as in the lesson, for both bases."""
    equal = torch.full((1, 1, len(DISTANCES), 128), 128**-0.5)
    for base, name in ((10_000.0, "base_10000"), (500_000.0, "base_500000")):
        got = learner.rope_angles(128, 257, base)
        expect_tables(got, tables(base, 128, 257))
        turned = learner.apply_rope(equal, got[0][DISTANCES], got[1][DISTANCES])
        expect_shape(turned, equal.shape)
        expect(turned[0, 0] @ turned[0, 0, 0], documented[name], "the score over the distance")


@task(3, after="documented_turned")
def test_documented_offset(learner, documented):
    """A single token with offset 2 is turned like the token at position 2."""
    got = learner.apply_rope(example(1), *tables(100.0, 4, 3), 2)
    expect_shape(got, (1, 1, 1, 4))
    expect(got[0, 0, 0], documented["turned_at_2"])
