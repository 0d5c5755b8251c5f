"""Exercise 12's solution against torch's own attention and against plain Python loops, in float64."""

import pytest
import torch
from figure_case import TO_LESSON, Case
from torch import nn
from torch.nn import functional
from truths import attention, dot, drawn, multi_head

from grader.judge.inputs import manual_seed

SHAPES = ((1, 1), (1, 6), (3, 4))  # (B, T)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("heads", (1, 2, 3, 6))
def test_several_heads_are_torchs_multihead_attention(solution, heads, shape):
    torch.manual_seed(heads)
    layer = solution.MultiHeadSelfAttention(6, heads).double()
    weights = [getattr(head, name).weight for name in ("query", "key", "value") for head in layer.heads]
    truth, x = multi_head(heads, torch.cat(weights), last=layer.output_linear), drawn(*shape, 6)
    torch.testing.assert_close(layer(x), truth(x, x, x)[0])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_causal_head_by_loops(solution, shape):
    torch.manual_seed(sum(shape))
    layer = solution.CausalHead(5, 3).double()
    x = drawn(*shape, 5)
    result = layer(x)

    def linear(part, vector):
        return [dot(row, vector) + b for row, b in zip(part.weight.tolist(), part.bias.tolist())]

    for sequence, outputs in zip(x.tolist(), result.tolist()):
        parts = (layer.key, layer.query, layer.value)
        keys, queries, values = ([linear(part, token) for token in sequence] for part in parts)
        for t, output in enumerate(outputs):
            _, [context] = attention([keys[t]], queries[: t + 1], values[: t + 1], scale=1.0)  # the roles are swapped
            assert output == pytest.approx(linear(layer.out, context), abs=1e-12)


def mixed(token: int = 0, off: int | None = None) -> dict[str, torch.Tensor]:
    """The output of the lesson's layer for one token, and without it; off: a head whose numbers are 0."""
    manual_seed(123)
    heads = [[nn.Linear(4, 2, bias=False) for _ in range(3)] for _ in range(2)]
    out, x = nn.Linear(4, 4), torch.arange(8.0).reshape(1, 2, 4)
    found = [functional.scaled_dot_product_attention(*(part(x) for part in head))[0, token] for head in heads]
    found = [0 * one if number == off else one for number, one in enumerate(found)]
    return {"output": out(torch.cat(found)), "output without the layer": torch.cat(found)}


CASES = [
    Case([], says="^Without head 1, 4 of 4 numbers change; without the layer, 2 would."),
    Case([{"Numbers of the output layer": True}], lambda: mixed(off=1), "4 of 4 numbers"),
    Case([TO_LESSON, ("pick", "output", 0, 3)], mixed, "^Output 3 of the layer has a line from every"),
    Case([TO_LESSON, {"Token": "1"}], lambda: mixed(1)),
    Case([TO_LESSON, {"head 0": False}], lambda: mixed(off=0), "Without head 0, 4 of 4"),
]
