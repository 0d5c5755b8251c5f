"""What is done to the figure of exercise 18, and what torch computes must come out."""

import math

import torch
from figure_case import NUMBERS, Case
from truths import load

exercise = load("18")


def in_a_row(places: int, held: float, hide: bool = False, replace: bool = False, left: bool = False):
    """The sentence of two tokens in a row of so many places, whose padding holds a number."""
    real = exercise.key_padding_mask(torch.tensor([2]), places, "left" if left else "right")[0]
    keys, values = (torch.full((places,), 0.0 if replace else held, dtype=torch.float64) for _ in range(2))
    keys[real], values[real] = torch.tensor([1.0, 3.0]).double().log(), torch.tensor([8.0, 4.0]).double()
    scores = keys.masked_fill(~real, -torch.inf) if hide else keys
    weights = torch.softmax(scores, dim=-1)
    shown = {"result, alone": torch.tensor(5.0)}
    result = (weights * values).sum()
    return shown | (
        {} if result.isnan() else {"the row": torch.stack([keys, scores, weights, values]), "result": result}
    )


HIDE, REPLACE = (("toggle", name) for name in ("Hide padding before the softmax", "Set padding to 0 first"))
HOLDS = "Padding holds"
CASES = [
    Case("as it opens", [NUMBERS], lambda: in_a_row(3, 0.0), "takes 20.% of the weight: the result is 4, not 5"),
    Case("hidden", [("move", "Places in the row", 5), HIDE, NUMBERS], lambda: in_a_row(5, 0.0, hide=True), "as if"),
    Case("NaN", [("choose", HOLDS, "NaN"), NUMBERS], lambda: in_a_row(3, math.nan), "every weight is NaN"),
    Case(
        "NaN, hidden",
        [("choose", HOLDS, "NaN"), HIDE, NUMBERS],
        lambda: in_a_row(3, math.nan, hide=True),
        "0 · NaN is NaN",
    ),
    Case(
        "NaN, replaced",
        [("move", "Places in the row", 8), ("choose", HOLDS, "NaN"), REPLACE, NUMBERS],
        lambda: in_a_row(8, math.nan, replace=True),
        "60.%",
    ),
    Case(
        "on the left, with both",
        [("choose", "It is on the", "left"), ("choose", HOLDS, "NaN"), HIDE, REPLACE, NUMBERS],
        lambda: in_a_row(3, math.nan, hide=True, replace=True, left=True),
        "as if the sentence were alone",
    ),
]
