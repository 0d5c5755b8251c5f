"""Exercise 08 against torch's own multi-head layer with one head."""

import pytest
import torch
from figure_case import Case
from truths import drawn, multi_head

HELD = torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize("bias", [False, True])
def test_equals_multihead_attention_of_one_head(solution, bias):
    layer = solution.SelfAttention_v2(4, 4, bias).double()
    linears = (layer.W_query, layer.W_key, layer.W_value)
    biases = torch.cat([linear.bias for linear in linears]) if bias else None
    other = multi_head(1, torch.cat([linear.weight for linear in linears]), biases)
    x = drawn(3, 5, 4)
    torch.testing.assert_close(layer(x), other(x, x, x)[0])
    torch.testing.assert_close(layer(x[0]), other(x[:1], x[:1], x[:1])[0][0])


def output(matrix: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"output": torch.tensor([1.0, 2.0, 3.0]) @ matrix}


CASES = [
    Case([], lambda: output(HELD.T), "output 0 is 1 · 1 \\+ 2 · 0 \\+ 3 · 2 = 7"),
    Case([("pick", "W, 2 out × 3 in", 1, 1)], lambda: output(HELD.T), "row 1 of W .orange. is now in column 1"),
    Case([{"Multiply x by": "W.reshape(3, 2)"}], lambda: output(HELD.view(3, 2)), "It is wrong: 7, 2 is right"),
    Case([{"Multiply x by": "W as it is"}], says="torch refuses"),
]
