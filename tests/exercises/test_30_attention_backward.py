"""Exercise 30's solution against plain Python loops, finite differences, and torch's autograd in float64."""

import importlib.util
import math
from pathlib import Path

import pytest
import torch
from figure_case import Case
from torch.nn import functional as F

PATH = Path(__file__).parents[2] / "solutions" / "30_attention_backward" / "attention_backward.py"
SHAPES = [(1, 1, 1, 1), (2, 3, 8, 4), (1, 2, 5, 7), (3, 1, 4, 4)]  # (B, H, T, h)
ROWS = [(1,), (5,), (4, 7), (6, 6), (2, 3, 4, 5)]
spec = importlib.util.spec_from_file_location("truth_25", PATH)
exercise = importlib.util.module_from_spec(spec)
spec.loader.exec_module(exercise)


def drawn(*shape, many: int = 3):
    torch.manual_seed(25)
    return [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for _ in range(many)]


@pytest.mark.parametrize("shape", ROWS)
def test_softmax_backward_is_what_autograd_finds(shape):
    scores, arriving = drawn(*shape, many=2)
    weights = torch.softmax(scores, dim=-1)
    got = exercise.softmax_backward(weights, arriving)
    torch.testing.assert_close(got, torch.autograd.grad(weights, scores, arriving)[0])
    torch.testing.assert_close(got.sum(dim=-1), torch.zeros(shape[:-1], dtype=torch.float64))
    assert not got.requires_grad


def test_softmax_backward_is_the_jacobian_entry_by_entry():
    weights, arriving = torch.softmax(drawn(5)[0], dim=-1).tolist(), drawn(5)[1].tolist()
    slopes = [[p * ((i == j) - q) for j, q in enumerate(weights)] for i, p in enumerate(weights)]
    expected = [sum(slope * g for slope, g in zip(row, arriving, strict=True)) for row in slopes]
    got = exercise.softmax_backward(torch.tensor(weights).double(), torch.tensor(arriving).double())
    torch.testing.assert_close(got, torch.tensor(expected).double(), rtol=1e-6, atol=1e-7)


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


@pytest.mark.parametrize("causal", [False, True])
def test_gradcheck_passes(causal):
    assert torch.autograd.gradcheck(lambda *three: exercise.AttentionFunction.apply(*three, causal), drawn(1, 2, 4, 3))


@pytest.mark.parametrize("wanted", [(True, True, True), (True, False, False), (False, True, True)])
def test_what_nobody_needs_is_none(wanted):
    inputs = [tensor.detach().requires_grad_(need) for tensor, need in zip(drawn(1, 2, 3, 4), wanted, strict=True)]
    returned = exercise.AttentionFunction.apply(*inputs, True).grad_fn.apply(torch.ones(1, 2, 3, 4).double())
    assert [entry is not None for entry in returned] == [*wanted, False]


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


def test_the_gradient_of_the_loss_number_by_number():
    logits, targets = [[0.5, -1.0, 2.0], [1.0, 1.0, 0.0], [3.0, 0.0, -2.0]], [2, -100, 1]
    expected = [[0.0] * 3 for _ in logits]
    for i in (0, 2):
        total = sum(map(math.exp, logits[i]))
        expected[i] = [(math.exp(z) / total - (j == targets[i])) / 2 for j, z in enumerate(logits[i])]
    got = exercise.cross_entropy_backward(torch.tensor(logits), torch.tensor(targets))
    torch.testing.assert_close(got, torch.tensor(expected))


# The figure: what is done to it, and what torch computes must come out.


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
CASES = [
    Case("another gradient", [("move", "Gradient 0", 8)], lambda: back([LOG_2, 0, 0], [8, 2, 6]), "positive only at 0"),
    Case("all alike", [("move", "Gradient 0", 6), ("move", "Gradient 1", 6)], lambda: back([LOG_2, 0, 0], [6, 6, 6])),
    Case("a sure choice", [("move", "Score 1", 5)], lambda: back([LOG_2, 5, 0], [1, 2, 6]), "positive only at 2"),
    Case(
        "hidden",
        [("toggle", "Hide token 2")],
        lambda: back([LOG_2, 0, -math.inf], [1, 2, 6]),
        "positive at 1",
    ),
    Case(
        "diagonal",
        [("toggle", "Only the diagonal")],
        lambda: back([LOG_2, 0, 0], [1, 2, 6], diagonal=True),
        "and not 0",
    ),
]
