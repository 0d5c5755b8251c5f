"""Exercise 07's solution against plain Python."""

import pytest
import torch
from figure_case import Case
from figure_truths import one_token
from truths import attention, drawn, tensor


@pytest.mark.parametrize("tokens, d_in, d_out", [(1, 1, 1), (6, 3, 2), (4, 2, 5), (7, 8, 8)])
def test_context_vectors_in_pythons_numbers(solution, tokens, d_in, d_out):
    layer = solution.SelfAttention_v1(d_in, d_out).double()
    x = drawn(tokens, d_in)
    projected = [x @ weight for weight in (layer.W_query, layer.W_key, layer.W_value)]
    torch.testing.assert_close(layer(x), tensor(attention(*(one.tolist() for one in projected))[1]))


def the_query() -> dict[str, torch.Tensor]:
    """What is there before the first score."""
    return {name: value for name, value in one_token(1)().items() if name in ("query", "keys", "values")}


CASES = [
    Case([], one_token(1), r"^“journey” mixes the first numbers of the six values"),
    Case([("press", "Step")], the_query, r"^First it asks: .*“journey” .*= 0\.43\.$"),
    Case([("press", "Reset")] + 2 * [("press", "Step")], says=r"^The answers .*“journey” the weight 0\.23\.$"),
    Case([{"Token": "step"}, ("pick", "weights", 4, 0)], one_token(5), r"“one” the weight 0\.11\.$"),
    Case([("pick", "scores", 1, 0)], one_token(1), r"“journey” .* 0\.43 · 0\.44 .*= 1\.85\.$"),
    Case([{"Token": "one"}, ("pick", "context vector", 0, 1)], one_token(4), "“one” mixes the second numbers"),
]
