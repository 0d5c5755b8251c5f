"""What is done to the figure of exercise 18, and what torch computes must come out."""

import itertools
import math

import pytest
import torch
from figure_case import Case
from thorough import sample
from torch.nn import functional as F
from truths import drawn, load

exercise = load("18")
BATCHES = [(3,), (1, 4, 2), (5, 5), (0, 3), (4, 0, 1, 6), (0, 0)]
GARBAGE = (0.0, 1e30, math.nan, math.inf, -math.inf)


@pytest.mark.parametrize(
    ("lengths", "garbage", "side", "causal"),
    sample(itertools.product(BATCHES, GARBAGE, ("right", "left"), (False, True)), 37),  # each value beside many others
)
def test_each_sequence_as_if_it_were_alone(lengths, garbage, side, causal):
    T = max(*lengths, 1) + 1
    real = exercise.key_padding_mask(torch.tensor(lengths), T, side)
    tokens = [drawn(len(lengths), 2, T, 4, seed=seed) for seed in range(3)]
    inputs = [torch.where(real[:, None, :, None], x, garbage).requires_grad_() for x in tokens]
    got = exercise.padded_attention(*inputs, torch.tensor(lengths), side, causal)
    expected = torch.zeros_like(got)
    leaves = [x.clone().requires_grad_() for x in tokens]
    for row, length in enumerate(lengths):
        part = slice(T - length, T) if side == "left" else slice(0, length)
        if length:
            alone = (x[None, row, :, part] for x in leaves)
            expected[row, :, part] = F.scaled_dot_product_attention(*alone, is_causal=causal)[0]
    torch.testing.assert_close(got, expected)
    cotangent = torch.randn_like(expected)
    if any(lengths):
        wanted = torch.autograd.grad(expected, leaves, cotangent)
        torch.testing.assert_close(torch.autograd.grad(got, inputs, cotangent), wanted)


def in_a_row(places: int, held: float, hide: bool = False, replace: bool = False, left: bool = False):
    """The sentence of two tokens in a row of so many places, whose padding holds a number."""
    real = exercise.key_padding_mask(torch.tensor([2]), places, "left" if left else "right")[0]
    keys, values = (torch.full((places,), 0.0 if replace else held, dtype=torch.float64) for _ in range(2))
    keys[real], values[real] = torch.tensor([1.0, 3.0]).double().log(), torch.tensor([8.0, 4.0]).double()
    scores = keys.masked_fill(~real, -torch.inf) if hide else keys
    weights = torch.softmax(scores, dim=-1)
    result, alone = (weights * values).sum(), {"result, alone": torch.tensor(5.0)}
    whole = {"the row": torch.stack([keys, scores, weights, values]), "result": result}
    return alone if result.isnan() else alone | whole


HIDE, REPLACE = "Hide padding before the softmax", "Set padding to 0 first"
NAN = {"Padding holds": "NaN"}
CASES = [
    Case([], lambda: in_a_row(3, 0.0), "takes 20.% of the weight: the result is 4, not 5"),
    Case([{"Places in the row": 5, HIDE: True}], lambda: in_a_row(5, 0.0, hide=True), "as if"),
    Case([NAN], lambda: in_a_row(3, math.nan), "every weight is NaN"),
    Case([NAN, {HIDE: True}], lambda: in_a_row(3, math.nan, hide=True), "0 · NaN is NaN"),
    Case([NAN, {"Places in the row": 8, REPLACE: True}], lambda: in_a_row(8, math.nan, replace=True), "60.%"),
    Case(
        [NAN, {"It is on the": "left", HIDE: True, REPLACE: True}],
        lambda: in_a_row(3, math.nan, hide=True, replace=True, left=True),
        "as if the sentence were alone",
    ),
]
