"""Exercise 05 against sums of products in plain Python, and against torch.nn.Linear."""

import pytest
import torch
from figure_case import Case
from figure_truths import projected
from truths import dot, drawn, tensor


@pytest.mark.parametrize("tokens, d_in, d_k, d_v", [(1, 1, 1, 1), (1, 3, 2, 4), (6, 4, 4, 4), (5, 2, 7, 3)])
def test_rows_times_columns_and_linear_layers(solution, tokens, d_in, d_k, d_v):
    x = drawn(tokens, d_in)
    layers = [torch.nn.Linear(d_in, size, bias=False, dtype=torch.float64) for size in (d_k, d_k, d_v)]
    by_rows = solution.project(x, *(layer.weight.T for layer in layers))
    by_columns = solution.project_columns(x, *(layer.weight for layer in layers))
    for row, column, layer in zip(by_rows, by_columns, layers, strict=True):
        sums = tensor([[dot(token, weights) for weights in layer.weight.tolist()] for token in x.tolist()])
        torch.testing.assert_close(row, sums)
        torch.testing.assert_close(column, layer(x))


CASES = [
    Case(
        [],
        lambda: projected(1),
        "^“journey” asks “one”: its query times the key of “one” is 0.431 · 0.183 . 1.455 · 0.329 = 0.56. "
        "“one” asks “journey” .dashed.: 0.88",
    ),
    Case([{"Token": "one"}], lambda: projected(4), "^“one” asks “journey”: .* = 0.88"),
    Case([("pick", "scores", 2, 2)], lambda: projected(2), "^“starts” asks itself: .* = 1.79"),
    Case(
        [("pick", "W_query", 1, 1), {"Chosen entry of W_query": 0.25}],
        lambda: projected(1, 0.25, at=(1, 1)),
        r"^The second number of the query of “journey” is .* 0\.2500 .* = 1\.074\.$",
    ),
    Case([{"Use W_query for the keys too": True}], lambda: projected(1, same=True)),
]
