"""Exercise 14's solution against attention that was written by others, and against finite differences."""

import importlib.util
from pathlib import Path

import pytest
import torch
from figure_case import Case
from torch import nn

from grader.judge.inputs import manual_seed

PATH = Path(__file__).parents[2] / "solutions" / "14_cross_attention" / "cross_attention.py"
SIZES = [(1, 1, 1, 1, 1), (6, 8, 3, 2, 4), (4, 2, 5, 5, 3)]  # T_1, T_2, d_in, d_out_kq, d_out_v
spec = importlib.util.spec_from_file_location("truth_14", PATH)
exercise = importlib.util.module_from_spec(spec)
spec.loader.exec_module(exercise)


@pytest.mark.parametrize("sizes", SIZES)
def test_equals_torchs_own_attention(sizes):
    T_1, T_2, d_in, d_out_kq, d_out_v = sizes
    layer = exercise.CrossAttention(d_in, d_out_kq, d_out_v).double()
    x_1, x_2 = torch.randn(T_1, d_in, dtype=torch.float64), torch.randn(T_2, d_in, dtype=torch.float64)
    query, key, value = x_1[None] @ layer.W_query, x_2[None] @ layer.W_key, x_2[None] @ layer.W_value
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value)[0]
    torch.testing.assert_close(layer(x_1, x_2), expected)


def test_gradients_equal_finite_differences():
    layer = exercise.CrossAttention(3, 2, 4).double()
    x_1 = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    x_2 = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(layer, (x_1, x_2))


# The figure: what is done to it, and what torch computes must come out.


def crossed(first: int, second: int, own: bool = False) -> dict[str, torch.Tensor]:
    """Exercise 14 with the first tokens of both sentences."""
    manual_seed(123)
    x_1 = nn.Embedding(50_000, 3)(torch.tensor([0, 4, 5, 2, 1, 3]))[:first]
    manual_seed(123)
    W_query, W_key, W_value = torch.rand(3, 2), torch.rand(3, 2), torch.rand(3, 4)
    x_2 = x_1 if own else torch.rand(8, 3)[:second]
    weights = torch.softmax(x_1 @ W_query @ (x_2 @ W_key).T / 2**0.5, -1)
    return {"weights": weights, "context vectors": weights @ x_2 @ W_value}


CASES = [
    Case(
        "fewer keys",
        [("press", "As in the lesson"), ("move", "Tokens of x_2", 3)],
        lambda: crossed(6, 3),
        "6 × 3 weights",
    ),
    Case(
        "fewer queries",
        [("press", "As in the lesson"), ("move", "Tokens of x_1", 2)],
        lambda: crossed(2, 8),
        "2 × 8 weights",
    ),
    Case(
        "self-attention",
        [("press", "As in the lesson"), ("toggle", "Take x_1 for both: self-attention")],
        lambda: crossed(6, 8, True),
        "6 × 6 weights",
    ),
    Case(
        "a row",
        [("press", "As in the lesson"), ("pick", "weights", 5, 0)],
        says="“first” gives token 0 of the second sentence the weight 0.134, and looks most at token 4",
    ),
]
