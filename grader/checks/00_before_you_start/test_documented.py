"""The numbers that the lesson prints."""

import torch

from grader.authors import expect, expect_drawn, manual_seed, task

ROWS = torch.tensor([[1.0, 2.0, 6.0], [0.0, 4.0, 8.0]])
X = torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]])


@task(1)
def test_documented_centred_rows(learner, documented):
    """The two rows of the lesson, each minus its mean, match the printed numbers."""
    expect(learner.centred_rows(ROWS), documented["centred_rows"])


@task(2)
def test_documented_all_products(learner, documented):
    """The products of three rows with two rows match the printed numbers."""
    expect(learner.all_products(X, X[:2]), documented["all_products"])


@task(3)
def test_documented_positions(learner, documented):
    """Of three rows of float64 numbers, the positions match the printed numbers, in float64."""
    got = learner.positions(X.double())
    expect(got, torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64))
    expect(got, documented["positions"])


@task(4)
def test_documented_less_fixed_mean(learner, documented):
    """The three numbers of the lesson, minus their mean, match the printed numbers."""
    expect(learner.less_fixed_mean(torch.tensor([1.0, 2.0, 6.0])), documented["less_fixed_mean"])


@task(5)
def test_documented_affine(learner, documented):
    """Seeded with 123, the layer draws its weight and then its bias, and gives the printed rows."""
    layer = learner.Affine(2, 3, seed=123)
    manual_seed(123)
    expect_drawn(layer, {"weight": torch.rand(2, 3), "bias": torch.rand(3)})
    expect(layer(X), documented["affine"])
