"""The printed numbers of the source document, for the inputs that it draws with seed 1337."""

import torch

from grader.authors import expect, expect_shape, task


def draws() -> tuple[torch.Tensor, torch.Tensor]:
    """The document's x (4, 8, 2) and b (3, 2), in its order of drawing."""
    generator = torch.Generator().manual_seed(1337)
    x = torch.randn(4, 8, 2, generator=generator)
    return x, torch.randint(0, 10, (3, 2), generator=generator).float()


@task(1)
def test_documented_average_loop(learner, documented):
    """The averages of the first of four sequences match the printed numbers."""
    x, _ = draws()
    expect(x[0], documented["x"], "the input x[0], drawn by the check,")
    averages = learner.average_loop(x)
    expect_shape(averages, (4, 8, 2))
    expect(averages[0], documented["xbow"], "the result for the first sequence")


@task(2)
def test_documented_averaging_weights(learner, documented):
    """The weights for 3 and for 8 tokens match the printed numbers."""
    expect(learner.averaging_weights(3), documented["a"])
    weights = learner.averaging_weights(8)
    expect(weights, documented["weights_for_matmul"])
    expect(weights, documented["weights_from_softmax"])


@task(3)
def test_documented_average_matmul(learner, documented):
    """The matrix product gives the printed averages of three tokens and of eight."""
    x, b = draws()
    expect(b, documented["b"], "the input b, drawn by the check,")
    averages = learner.average_matmul(b.unsqueeze(0))
    expect_shape(averages, (1, 3, 2))
    expect(averages[0], documented["c"], "the result for the printed b")
    averages = learner.average_matmul(x)
    expect_shape(averages, (4, 8, 2))
    expect(averages[0], documented["xbow2"], "the result for the first sequence")


@task(4)
def test_documented_average_softmax(learner, documented):
    """The softmax gives the printed averages too."""
    averages = learner.average_softmax(draws()[0])
    expect_shape(averages, (4, 8, 2))
    expect(averages[0], documented["xbow3"], "the result for the first sequence")
