"""Exercise 30's solution against plain Python loops, finite differences, and torch's autograd in float64."""

import math

import pytest
import torch
from figure_case import Case
from torch.nn import functional as F
from truths import drawn, load

SHAPES = [(1, 1, 1, 1), (2, 3, 8, 4), (1, 2, 5, 7), (3, 1, 4, 4)]  # (B, H, T, h)
ROWS = [(1,), (5,), (4, 7), (6, 6), (2, 3, 4, 5)]
exercise = load("30")


@pytest.mark.parametrize("shape", ROWS)
def test_softmax_backward_is_what_autograd_finds(shape):
    scores, arriving = drawn(*shape, many=2)
    weights = torch.softmax(scores, dim=-1)
    got = exercise.softmax_backward(weights, arriving)
    torch.testing.assert_close(got, torch.autograd.grad(weights, scores, arriving)[0])
    torch.testing.assert_close(got.sum(dim=-1), torch.zeros(shape[:-1], dtype=torch.float64))
    assert not got.requires_grad


@pytest.mark.parametrize("filler", [0.0, 5.0, math.nan, math.inf, -math.inf])
def test_a_hidden_place_is_as_if_it_did_not_exist(filler):
    scores, arriving = (tensor.detach() for tensor in drawn(4, 6, many=2))
    shorter = exercise.softmax_backward(torch.softmax(scores[:, :4], dim=-1), arriving[:, :4])
    weights = torch.softmax(torch.cat([scores[:, :4], torch.full((4, 2), -torch.inf)], dim=-1), dim=-1)
    got = exercise.softmax_backward(weights, torch.cat([arriving[:, :4], torch.full((4, 2), filler)], dim=-1))
    torch.testing.assert_close(got, torch.cat([shorter, torch.zeros(4, 2)], dim=-1))
    assert (got[:, 4:] == 0).all()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_attention_and_its_gradients_are_those_of_torch(shape, causal):
    inputs = drawn(*shape)
    expected = F.scaled_dot_product_attention(*inputs, is_causal=causal)
    context, weights = exercise.attention_forward(*inputs, causal)
    torch.testing.assert_close(context, expected.detach())
    arriving = torch.randn_like(expected)
    gradients = torch.autograd.grad(expected, inputs, arriving)
    torch.testing.assert_close(exercise.attention_backward(*inputs, weights, arriving), gradients)
    products = (weights * (arriving @ inputs[2].detach().mT)).sum(dim=-1)
    torch.testing.assert_close(exercise.row_products(context, arriving), products)
    result = exercise.AttentionFunction.apply(*inputs, causal)
    torch.testing.assert_close(torch.autograd.grad(result, inputs, arriving), gradients)
    assert not any(tensor.requires_grad for tensor in (context, weights))


def test_values_that_overflow_in_a_hidden_place_do_no_harm():
    queries, keys, values = (tensor.detach().float() for tensor in drawn(1, 1, 3, 2))
    values[..., 2, :] = 3e38
    arriving = torch.tensor([[10.0, 10.0], [10.0, -10.0], [0.0, 0.0]])[None, None]
    weights = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])[None, None]
    assert all(part.isfinite().all() for part in exercise.attention_backward(queries, keys, values, weights, arriving))


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (4, 4), (3, 130)])
def test_the_gradient_of_the_loss_is_that_of_torch(shape):
    (logits,) = drawn(*shape, many=1)
    targets = torch.randint(shape[1], shape[:1])
    for ignored in ([], [0], [0, 2][: shape[0] - 1]):
        targets[ignored] = -100
        if (targets == -100).all():
            continue
        expected = torch.autograd.grad(F.cross_entropy(logits, targets), logits)[0]
        torch.testing.assert_close(exercise.cross_entropy_backward(logits, targets), expected)
    assert not exercise.cross_entropy_backward(torch.full(shape, torch.nan), torch.full(shape[:1], -100)).any()


def back(scores, arriving, diagonal: bool = False) -> dict[str, torch.Tensor]:
    """Weights, Jacobian and gradient of the scores, from torch's autograd."""
    scores, arriving = torch.tensor(scores, dtype=torch.float64), torch.tensor(arriving, dtype=torch.float64)
    weights = torch.softmax(scores, dim=-1)
    jacobian = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, dim=-1), scores)
    jacobian = jacobian.nan_to_num() * (torch.eye(3, dtype=torch.float64) if diagonal else 1)
    average = (weights * arriving).sum()
    return {
        "weights": weights, "average": average, "Jacobian": jacobian, "gradient of the scores": jacobian @ arriving
    }  # fmt: skip


LOG_2 = math.log(2.0)
WHOLE = ("choose", "Jacobian", "whole")
CASES = [
    Case("as it opens", [], says="average is 2.500.* positive only at 2"),
    Case(
        "another gradient",
        [WHOLE, ("move", "Gradient 0", 8)],
        lambda: back([LOG_2, 0, 0], [8, 2, 6]),
        "positive only at 0",
    ),
    Case(
        "all alike",
        [WHOLE, ("move", "Gradient 0", 6), ("move", "Gradient 1", 6)],
        lambda: back([LOG_2, 0, 0], [6, 6, 6]),
        "no score gets a gradient",
    ),
    Case(
        "2 more everywhere",
        [WHOLE, ("move", "Add to all", 2)],
        lambda: back([LOG_2, 0, 0], [3, 4, 8]),
        "average is 4.500.* positive only at 2",
    ),
    Case(
        "a sure choice", [WHOLE, ("move", "Score 0", 5)], lambda: back([5, 0, 0], [1, 2, 6]), "positive only at 1 and 2"
    ),
    Case(
        "hidden",
        [WHOLE, ("toggle", "Hide token 2")],
        lambda: back([LOG_2, 0, -math.inf], [1, 2, 6]),
        "positive only at 1, where more than that arrives at a weight that is not 0",
    ),
    Case(
        "diagonal",
        [("choose", "Jacobian", "only the diagonal")],
        lambda: back([LOG_2, 0, 0], [1, 2, 6], diagonal=True),
        "and not 0",
    ),
]
