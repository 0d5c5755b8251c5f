"""What is done to the figure of exercise 31, and what torch computes must come out."""

import pytest
import torch
from figure_case import TO_LESSON, Case
from torch.nn import functional as F
from truths import leaves

SHAPES = [(1, 1, 1, 1), (2, 3, 8, 4), (1, 2, 37, 5)]  # (B, H, T, h)
BLOCKS = (1, 2, 5, 8, 37, 100)


def true_logsumexp(query, keys, causal):
    """The logarithm of the sum of each row's exponentials, over all scores at once."""
    scores = torch.einsum("bhqi,bhki->bhqk", query, keys) / query.shape[-1] ** 0.5
    hidden = torch.ones(scores.shape[-2:]).triu(1).bool() & causal
    return torch.logsumexp(scores.masked_fill(hidden, -torch.inf), dim=-1)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("block_size", BLOCKS)
@pytest.mark.parametrize("shape", SHAPES)
def test_output_and_gradients_are_those_of_torch(solution, shape, block_size, causal):
    inputs = leaves(*shape)
    expected = F.scaled_dot_product_attention(*inputs, is_causal=causal)
    torch.testing.assert_close(solution.flash_attention(*inputs, block_size, causal), expected)
    cotangent = torch.randn_like(expected)
    gradients = torch.autograd.grad(expected, inputs, cotangent)
    plain = [tensor.detach() for tensor in (*inputs, expected, true_logsumexp(*inputs[:2], causal), cotangent)]
    by_hand = solution.flash_attention_backward(*plain, block_size, causal)
    torch.testing.assert_close(tuple(by_hand), gradients)


def attended(causal: bool, ready: int = 4) -> dict[str, torch.Tensor]:
    """The output of the lesson's four tokens, from torch's own attention; 0 where it isn't ready, and is left empty."""
    keys, values = torch.tensor([[2.0, 4.0, 1.0, 8.0], [6.0, 3.0, 0.0, 9.0]]).reshape(2, 1, 4, 1)
    output = F.scaled_dot_product_attention(torch.ones(1, 4, 1), keys.log(), values, is_causal=causal)
    return {"output / sum": output.flatten() * (torch.arange(4) < ready)}


RISE = "of query {} rises from log 4 to log 8, so its old sum and output are multiplied by 4/8"
CASES = [
    Case([], lambda: attended(False, ready=2), "Tile 2 of 4: the maximum " + RISE.format(1)),
    Case([TO_LESSON, {"Causal": False}], lambda: attended(False), "Tile 4 of 4"),
    Case([TO_LESSON], lambda: attended(True), "Tile 3 of 3: the maximum " + RISE.format(3)),
    Case(
        [TO_LESSON, {"Block size": 1, "Tiles done": 6}],
        lambda: attended(True, ready=3),
        "Tile 6 of 10: query 2 keeps its maximum, log 4, and nothing is corrected",
    ),
    Case([("press", "Reset")], lambda: attended(False, ready=0), "No tile is done yet"),
]
