"""Exercise 03 against torch's fused attention, and against plain loops over Python's floats."""

import importlib.util
import math
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from figure_case import Case

from grader.sentence import inputs

PATH = Path(__file__).parents[2] / "solutions" / "03_context_vectors" / "context_vectors.py"
SHAPES = [(1, 1), (1, 5), (4, 1), (6, 3), (9, 20)]


@pytest.fixture(scope="module")
def solution():
    spec = importlib.util.spec_from_file_location("truth_03", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_hand(rows: list[list[float]]) -> tuple[list, list]:
    """Weights and context vectors, with Python's floats alone."""
    weights, contexts = [], []
    for query in rows:
        scores = [math.fsum(a * b for a, b in zip(query, row, strict=True)) for row in rows]
        powers = [math.exp(score - max(scores)) for score in scores]
        shares = [power / math.fsum(powers) for power in powers]
        weights.append(shares)
        contexts.append([math.fsum(s * row[k] for s, row in zip(shares, rows, strict=True)) for k in range(len(query))])
    return weights, contexts


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_loops_over_floats(solution, shape, scale):
    inputs = scale * torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)
    weights, contexts = by_hand(inputs.tolist())
    expected = torch.tensor(contexts, dtype=torch.float64)
    torch.testing.assert_close(solution.attention_weights(inputs), torch.tensor(weights, dtype=torch.float64))
    torch.testing.assert_close(solution.context_vectors(inputs), expected)
    for index in range(shape[0]):
        torch.testing.assert_close(solution.context_vector(inputs, index), expected[index])


@pytest.mark.parametrize("shape", SHAPES)
def test_fused_attention(solution, shape):
    inputs = torch.randn(*shape, generator=torch.Generator().manual_seed(7))
    fused = F.scaled_dot_product_attention(inputs, inputs, inputs, scale=1.0)
    torch.testing.assert_close(solution.context_vectors(inputs), fused)


def test_gradients_by_differences(solution):
    inputs = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(solution.attention_weights, (inputs,))
    assert torch.autograd.gradcheck(lambda x: solution.context_vector(x, 2), (inputs,))
    assert torch.autograd.gradcheck(solution.context_vectors, (inputs,))


# The figure: what is done to it, and what torch computes must come out.


def query_on(index: int, times: float = 1.0) -> dict[str, torch.Tensor]:
    """Exercise 03 for one query."""
    weights = torch.softmax(times * inputs() @ inputs().T, -1)[index]
    return {"weights": weights, "context vector": weights @ inputs()}


CASES = [
    Case("sharper", [("move", "Scores times", 20)], lambda: query_on(1, 20.0), "“journey” pulls most"),
    Case("all alike", [("move", "Scores times", 0)], lambda: query_on(1, 0.0), "a plain mean"),
    Case("your", [("choose", "Query", "Your")], lambda: query_on(0), "0.2098"),
    Case("one", [("choose", "Query", "one")], lambda: query_on(4), "“one”"),
    Case("step", [("choose", "Query", "step"), ("choose", "Dimensions", "1 and 2")], lambda: query_on(5), "“step”"),
]
