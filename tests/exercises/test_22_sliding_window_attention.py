"""Exercise 22's solution against masked attention over all tokens, key by key and as torch has it, in float64."""

import importlib.util
import math
from pathlib import Path

import pytest
import torch
from figure_case import Case

PATH = Path(__file__).parents[2] / "solutions" / "22_sliding_window_attention" / "sliding_window_attention.py"
WINDOWS = (1, 2, 3, 7, 8, 64, 130, 1000)
spec = importlib.util.spec_from_file_location("truth_19", PATH)
exercise = importlib.util.module_from_spec(spec)
spec.loader.exec_module(exercise)


def drawn(*shape):
    torch.manual_seed(19)
    return [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for _ in range(3)]


def whole(query, keys, values, window):
    """Attention of torch's own to all tokens, with a mask that is written down place by place."""
    tokens = query.shape[-2]
    seen = [[0 <= row - column < window for column in range(tokens)] for row in range(tokens)]
    return torch.nn.functional.scaled_dot_product_attention(query, keys, values, attn_mask=torch.tensor(seen))


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 3, 8, 4), (1, 2, 150, 5)])
def test_it_is_masked_attention_over_all_tokens(shape, window):
    inputs = drawn(*shape)
    got, expected = exercise.sliding_window_attention(*inputs, window), whole(*inputs, window)
    torch.testing.assert_close(got, expected)
    cotangent = torch.randn_like(expected)
    gradients = torch.autograd.grad(got, inputs, cotangent), torch.autograd.grad(expected, inputs, cotangent)
    torch.testing.assert_close(*gradients)


def test_it_is_the_formula_token_by_token():
    query, keys, values = (tensor.detach()[0, 0] for tensor in drawn(1, 1, 9, 3))
    got = exercise.sliding_window_attention(query[None, None], keys[None, None], values[None, None], 4)[0, 0]
    for row in range(9):
        near = range(max(0, row - 3), row + 1)
        powers = [math.exp(sum((query[row] * keys[column]).tolist()) / math.sqrt(3)) for column in near]
        mixed = sum(power * values[column] for power, column in zip(powers, near, strict=True)) / sum(powers)
        torch.testing.assert_close(got[row], mixed)


@pytest.mark.parametrize("window", WINDOWS)
def test_the_mask_place_by_place(window):
    mask = exercise.sliding_window_mask(9, window)
    assert mask.tolist() == [[0 <= row - column < window for column in range(9)] for row in range(9)]


def test_a_window_of_all_tokens_is_causal_attention():
    inputs = drawn(2, 2, 70, 4)
    expected = torch.nn.functional.scaled_dot_product_attention(*inputs, is_causal=True)
    for window in (70, 71, 10_000):
        torch.testing.assert_close(exercise.sliding_window_attention(*inputs, window), expected)


def test_gradients_equal_finite_differences():
    assert torch.autograd.gradcheck(lambda *three: exercise.sliding_window_attention(*three, 3), drawn(1, 2, 6, 3))


def test_the_sink_of_the_lesson_keeps_the_output_small():
    scores, values = torch.tensor([18.0, 1.0, 1.0]).log(), torch.tensor([0.0, 2.0, 4.0])
    with_sink, without = (torch.softmax(scores[first:], dim=0) @ values[first:] for first in (0, 1))
    torch.testing.assert_close(torch.stack([with_sink, without]), torch.tensor([0.3, 3.0]))


# The figure: what is done to it, and what torch computes must come out.


def window(tokens: int, width: int, layers: int = 1) -> dict[str, torch.Tensor]:
    """Exercise 22's mask, and what is seen through some layers: the mask's powers."""
    mask = torch.ones(tokens, tokens).tril() - torch.ones(tokens, tokens).tril(-width)
    seen = torch.linalg.matrix_power(mask, layers) > 0
    many = {f"seen through {layers} layers": seen.float()} if layers > 1 else {}
    scores = torch.tensor([mask.sum(), tokens * width, tokens * tokens])
    return {"mask": mask, "scores": scores, "tokens that the last one sees": seen[-1].sum(), **many}


CASES = [
    Case("longer", [("press", "As in the lesson"), ("move", "Tokens", 12)], lambda: window(12, 3)),
    Case(
        "wider",
        [("press", "As in the lesson"), ("move", "Tokens", 9), ("move", "Window", 4)],
        lambda: window(9, 4),
        "65,536",
    ),
    Case(
        "deeper",
        [("press", "As in the lesson"), ("move", "Tokens", 16), ("move", "Window", 4), ("move", "Layers", 3)],
        lambda: window(16, 4, 3),
        "9 before it through 3 layers",
    ),
]
