"""The numbers that the lesson prints, and the numbers that a seed gives to the parameters."""

import math

import torch

from grader.authors import expect, expect_drawn, expect_shape, has_parameters, manual_seed, task
from grader.sentence import batch


@task(1)
def test_documented_repeat_kv(learner, documented):
    """Two heads given twice: your four heads match the lesson, copies side by side."""
    x = torch.arange(1.0, 9.0).reshape(1, 2, 2, 2)
    got = learner.repeat_kv(x, 2)
    expect_shape(got, (1, 4, 2, 2))
    expect(got[0], documented["repeated"])


def drawn(seed: int, d_in: int, d_out: int, kv_size: int) -> dict[str, torch.Tensor]:
    """The parameters of the four layers, created one after the other right after the seed."""
    manual_seed(seed)
    sizes = {"W_query": d_out, "W_key": kv_size, "W_value": kv_size}
    layers = {name: torch.nn.Linear(d_in, size, bias=False) for name, size in sizes.items()}
    layers["out_proj"] = torch.nn.Linear(d_out, d_out)
    return {f"{name}.{part}": p.detach() for name, layer in layers.items() for part, p in layer.named_parameters()}


@task(2)
def test_documented_attention(learner, documented):
    """Seeded with 123, your layer gives the output in the lesson, and it draws in the right order."""
    layer = learner.GroupedQueryAttention(3, 4, 4, 2, seed=123)
    output = layer(batch())
    has_drawn(layer, drawn(123, 3, 4, 2))
    expect_shape(output, (2, 6, 4))
    expect(output[0], documented["output"], "the output of the first sequence")
    expect(output[1], documented["output"], "the output of the second sequence")
    layer = learner.GroupedQueryAttention(3, 6, 2, 1, seed=18)
    expect_shape(layer(batch()), (2, 6, 6))
    has_drawn(layer, drawn(18, 3, 6, 3))


def has_drawn(layer, expected) -> None:
    """The layer has these parameters, with these numbers."""
    has_parameters(layer, {name: value.shape for name, value in expected.items()})
    expect_drawn(layer, expected)


@task(2)
def test_documented_parameter_counts(learner, documented):
    """With 8 heads of queries, your layer has as many parameters as the lesson says, for 8, 2 and 1 groups."""
    for groups, name in ((8, "multi_head"), (2, "grouped_query"), (1, "multi_query")):
        layer = learner.GroupedQueryAttention(512, 512, 8, groups)
        facts = layer.describe(values=False)
        count = sum(math.prod(value.shape) for key, value in facts["parameters"].items() if key not in facts["frozen"])
        expect(count, documented[name], "the number of trainable parameters")
