"""Exercise 05 against sums of products in plain Python, and against torch.nn.Linear."""

import importlib.util
from pathlib import Path

import pytest
import torch
from figure_case import Case
from figure_truths import projected

PATH = Path(__file__).parents[2] / "solutions" / "05_query_key_value" / "query_key_value.py"
SIZES = [(1, 1, 1, 1), (1, 3, 2, 4), (6, 4, 4, 4), (5, 2, 7, 3)]  # T, d_in, d_k, d_v


@pytest.fixture(scope="module")
def solution():
    spec = importlib.util.spec_from_file_location("query_key_value", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def times(rows: list[list[float]], columns: list[list[float]]) -> torch.Tensor:
    """Each row times each column, as sums of products."""
    return torch.tensor(
        [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in rows],
        dtype=torch.float64,
    )


@pytest.mark.parametrize(("tokens", "d_in", "d_k", "d_v"), SIZES)
def test_rows_times_columns(solution, tokens, d_in, d_k, d_v):
    x = torch.randn(tokens, d_in, dtype=torch.float64)
    weights = [torch.randn(d_in, size, dtype=torch.float64) for size in (d_k, d_k, d_v)]
    for got, weight in zip(solution.project(x, *weights), weights, strict=True):
        columns = [weight[:, j].tolist() for j in range(weight.shape[1])]
        torch.testing.assert_close(got, times(x.tolist(), columns))


@pytest.mark.parametrize(("tokens", "d_in", "d_k", "d_v"), SIZES)
def test_columns_are_what_linear_layers_hold(solution, tokens, d_in, d_k, d_v):
    x = torch.randn(tokens, d_in, dtype=torch.float64)
    layers = [torch.nn.Linear(d_in, size, bias=False, dtype=torch.float64) for size in (d_k, d_k, d_v)]
    results = solution.project_columns(x, *(layer.weight for layer in layers))
    for got, layer in zip(results, layers, strict=True):
        torch.testing.assert_close(got, layer(x))


def test_weights_are_consecutive_numbers_of_one_stream(solution):
    torch.manual_seed(7)
    weights = solution.init_weights(5, 3)
    torch.manual_seed(7)
    stream = [torch.rand(()).item() for _ in range(3 * 5 * 3)]
    assert [number for weight in weights for number in weight.flatten().tolist()] == stream
    assert not any(weight.requires_grad for weight in weights)


# The figure: what is done to it, and what torch computes must come out.


CASES = [
    Case("another token", [("choose", "Token", "one")], lambda: projected(4), "“one”"),
    Case("an entry", [("move", "Chosen entry of W_query", -1)], lambda: projected(1, -1.0), "−1.0000"),
    Case("one map for both", [("toggle", "Use W_query for the keys too")], lambda: projected(1, same=True)),
]
