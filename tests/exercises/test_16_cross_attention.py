"""Exercise 16's solution against attention that was written by others, and against finite differences."""

import pytest
import torch
from figure_case import Case
from torch import nn
from truths import load

from grader.judge.inputs import manual_seed

SIZES = [(1, 1, 1, 1, 1), (6, 8, 3, 2, 4), (4, 2, 5, 5, 3)]  # T_1, T_2, d_in, d_out_kq, d_out_v
exercise = load("16")


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


def crossed(token: int, second: int = 8, own: bool = False, first: int = 6) -> dict[str, torch.Tensor]:
    """Exercise 16's row for one token of the first sentence, which looks at the first tokens of the second one."""
    manual_seed(123)
    x_1 = nn.Embedding(50_000, 3)(torch.tensor([0, 4, 5, 2, 1, 3]))[:first]
    manual_seed(123)
    W_query, W_key, W_value = torch.rand(3, 2), torch.rand(3, 2), torch.rand(3, 4)
    x_2 = x_1 if own else torch.rand(8, 3)[:second]
    weights = torch.softmax(x_1[token] @ W_query @ (x_2 @ W_key).T / 2**0.5, -1)
    word = ("Life", "is", "short", "eat", "dessert", "first")[token]
    return {f"weights of “{word}”": weights, f"context vector of “{word}”": weights @ x_2 @ W_value}


LESSON, WORDS = ("press", "As in the lesson"), "point at a word of x_1"
CASES = [
    Case("as it opens", [], says="6 × 6 weights.*“ich” looks most at “I”"),
    Case("a verb", [("pick", WORDS, 0, 5)], says="“gesehen” looks most at “seen”"),
    Case("of the lesson", [LESSON], lambda: crossed(0), "6 × 8 weights"),
    Case("fewer keys", [LESSON, ("move", "Tokens of x_2", 3)], lambda: crossed(0, 3), "6 × 3 weights"),
    Case("fewer queries", [LESSON, ("move", "Tokens of x_1", 2)], lambda: crossed(0, first=2), "2 × 8 weights"),
    Case(
        "self-attention",
        [LESSON, ("toggle", "Take x_1 for both: self-attention")],
        lambda: crossed(0, own=True),
        "6 × 6 weights",
    ),
    Case("a row", [LESSON, ("pick", WORDS, 0, 5)], lambda: crossed(5), "“first” looks most at token 4"),
    Case(
        "a shorter sentence",
        [LESSON, ("choose", "Sentences", "German to English"), ("move", "Tokens of x_1", 3)],
        says="3 × 6 weights",
    ),
]
