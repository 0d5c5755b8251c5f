"""Exercise 09 against exact fractions."""

from fractions import Fraction

import pytest
import torch
from figure_case import TO_LESSON, Case
from truths import drawn, tensor

from grader.judge.inputs import manual_seed

AVERAGES = ("average_loop", "average_matmul", "average_softmax")
SHAPES = ((1, 1, 1), (1, 6, 3), (3, 1, 2), (2, 11, 4))


def running_averages(x: torch.Tensor) -> torch.Tensor:
    """The averages by exact fractions, number by number."""

    def averages(rows):
        return [float(sum(map(Fraction, column)) / len(rows)) for column in zip(*rows, strict=True)]

    tokens = range(1, x.shape[1] + 1)
    return tensor([[averages(sequence[:count]) for count in tokens] for sequence in x.tolist()])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", AVERAGES)
def test_averages_are_those_of_exact_fractions(solution, name, shape):
    x = drawn(*shape)
    torch.testing.assert_close(getattr(solution, name)(x), running_averages(x), atol=1e-6, rtol=1e-6)
    large = 1e4 * x.float()
    torch.testing.assert_close(getattr(solution, name)(large), running_averages(large).float(), atol=0.05, rtol=1e-5)


def averaged(added: float = 0.0, token: int = 7) -> dict[str, torch.Tensor]:
    """Exercise 09's running means, with something added to one token."""
    manual_seed(1337)
    x = torch.randn(4, 8, 2)[0]
    x[token] += added
    weights = torch.ones(8, 8).tril() / torch.arange(1, 9)[:, None]
    return {"x": x, "weights": weights, "averages": x.cumsum(0) / torch.arange(1, 9)[:, None]}


CASES = [
    Case([], lambda: averaged(2.0, 2), r"is 1/3, so that changes by 0\.667, .* later averages"),
    Case([{"Changed token": 7}], lambda: averaged(2.0), r"changes by 0\.250\.$"),
    Case([TO_LESSON], averaged, "nothing changes"),
    Case([{"Changed token": 2, "Add to it": -4}], lambda: averaged(-4.0, 2), "changes by −1.333"),
    Case([("press", "Reset")], lambda: averaged(2.0, 0), "Token 0 gets"),
]
