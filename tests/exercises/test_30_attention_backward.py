"""What is done to the figure of exercise 30, and what torch computes must come out."""

import math

import pytest
import torch
from figure_case import Case
from torch.nn import functional as F
from truths import leaves

SHAPES = [(1, 1, 1, 1), (2, 3, 8, 4), (1, 2, 5, 7), (3, 1, 4, 4)]  # (B, H, T, h)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_attention_and_its_gradients_are_those_of_torch(solution, shape, causal):
    inputs = leaves(*shape)
    expected = F.scaled_dot_product_attention(*inputs, is_causal=causal)
    context, weights = solution.attention_forward(*inputs, causal)
    torch.testing.assert_close(context, expected.detach())
    arriving = torch.randn_like(expected)
    gradients = torch.autograd.grad(expected, inputs, arriving)
    torch.testing.assert_close(solution.attention_backward(*inputs, weights, arriving), gradients)
    products = (weights * (arriving @ inputs[2].detach().mT)).sum(dim=-1)
    torch.testing.assert_close(solution.row_products(context, arriving), products)
    assert not any(tensor.requires_grad for tensor in (context, weights))


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
WHOLE = {"Jacobian": "whole"}
CASES = [
    Case([], says="average is 2.500.* positive only for score 2"),
    Case(
        [WHOLE, {"Gradient 0": 6, "Gradient 1": 6}], lambda: back([LOG_2, 0, 0], [6, 6, 6]), "no score gets a gradient"
    ),
    Case(
        [WHOLE, {"Score 0": 5, "Add to all": 2}], lambda: back([5, 0, 0], [3, 4, 8]), "positive only for score 1 and 2"
    ),
    Case(
        [WHOLE, {"Hide token 2": True}],
        lambda: back([LOG_2, 0, -math.inf], [1, 2, 6]),
        "positive only for score 1, where more than the average arrives at a weight that is not 0",
    ),
    Case([{"Jacobian": "only the diagonal"}], lambda: back([LOG_2, 0, 0], [1, 2, 6], diagonal=True), "and not 0"),
]
