"""The printed numbers of the sources, and the numbers that a seed gives to the parameters."""

import math

import torch

from grader.authors import expect, expect_drawn, expect_shape, has_parameters, manual_seed, task
from grader.sentence import batch

LAYERS = ("W_query", "W_key", "W_value")


@task(1)
def test_documented_example_heads(learner, documented):
    """The printed example of two heads is split and merged, and each head scores on its own as printed."""
    printed = [documented["example_head_1"], documented["example_head_2"]]
    heads = torch.stack([number.value for number in printed])[None].float()  # (1, 2, 3, 4)
    side_by_side = torch.cat([heads[:, 0], heads[:, 1]], dim=-1)  # (1, 3, 8)
    split = learner.split_heads(side_by_side, 2)
    expect_shape(split, documented["example_shape"].value)
    expect(tuple(split.shape), documented["example_shape"], "the shape of the split heads")
    for head, number in enumerate(printed):
        expect(split[0, head], number, f"head {head}")
    expect(split[0, 0] @ split[0, 0].mT, documented["example_scores_1"], "the product of head 0 with its transpose")
    expect(split[0, 1] @ split[0, 1].mT, documented["example_scores_2"], "the product of head 1 with its transpose")
    expect(learner.merge_heads(heads), side_by_side)


@task(2)
def test_documented_projections(learner, documented):
    """With three heads of the article's sizes, keys, values and queries have the printed shapes and are right."""
    manual_seed(123)
    inputs = torch.nn.Embedding(6, 16)(torch.tensor([0, 4, 5, 2, 1, 3])).detach()  # (6, 16)
    manual_seed(123)
    query, key, value = torch.rand(3, 24, 16), torch.rand(3, 24, 16), torch.rand(3, 28, 16)
    stacked = learner.project_heads(inputs, torch.eye(16).repeat(3, 1, 1))  # heads that change nothing
    expect(stacked, inputs.repeat(3, 1, 1), "what heads that change nothing give")
    stacked = stacked.mT
    expect(tuple(stacked.shape), documented["stacked_inputs"], "the shape of the stacked inputs")
    for weights, rows, columns in (
        (key, "keys_as_rows", "keys_as_columns"),
        (value, "values_as_rows", "values_as_columns"),
    ):
        projected = learner.project_heads(inputs, weights)
        expect_shape(projected, documented[rows].value)
        expect(tuple(projected.shape), documented[rows], "the shape of the projections")
        expect(tuple(projected.mT.shape), documented[columns], "the shape of the projections, turned,")
        expect(projected, torch.bmm(weights, stacked).mT)
    second = learner.project_heads(inputs[1:2], query)
    expect_shape(second, (3, 1, 24))
    expect(tuple(second[:, 0].shape), documented["second_queries"], "the shape of the second token's queries")
    expect(second[:, 0], torch.stack([one.mv(inputs[1]) for one in query]))


def drawn(seed, d_in, d_out, bias=False):
    """The parameters of the four layers, created one after the other right after the seed."""
    manual_seed(seed)
    layers = {name: torch.nn.Linear(d_in, d_out, bias=bias) for name in LAYERS}
    layers["out_proj"] = torch.nn.Linear(d_out, d_out)
    return {f"{name}.{part}": p.detach() for name, layer in layers.items() for part, p in layer.named_parameters()}


def has_drawn(layer, expected):
    """The layer has these parameters, with these numbers, whatever their names."""
    has_parameters(layer, {name: value.shape for name, value in expected.items()}, named=False)
    expect_drawn(layer, expected)


@task(3)
def test_documented_multi_head(learner, documented):
    """Seeded with 123, two heads give the printed output for both sequences; other seeds draw in this order too."""
    layer = learner.MultiHeadAttention(3, 2, 6, 0.0, 2, seed=123)
    output = layer(batch())
    has_drawn(layer, drawn(123, 3, 2))
    expect_shape(output, (2, 6, 2))
    expect(output[0], documented["multi_head"], "the output of the first sequence")
    expect(output[1], documented["multi_head"], "the output of the second sequence")
    layer = learner.MultiHeadAttention(3, 4, 6, 0.0, 2, True, seed=13)
    expect_shape(layer(batch()), (2, 6, 4))
    has_drawn(layer, drawn(13, 3, 4, bias=True))


@task(3)
def test_documented_parameter_count(learner, documented):
    """With 12 heads of 64 numbers each, the layer has the printed number of trainable parameters."""
    small = learner.MultiHeadAttention(6, 6, 2, 0.0, 3).describe()
    expect(trainable(small), 3 * 6 * 6 + 6 * 6 + 6, "the number of trainable parameters of a layer with d_out = 6")
    large = learner.MultiHeadAttention(768, 768, 1024, 0.0, 12)
    expect(trainable(large.describe(values=False)), documented["parameter_count"], "the number of trainable parameters")


def trainable(facts: dict) -> int:
    """How many numbers a module can learn."""
    return sum(math.prod(value.shape) for name, value in facts["parameters"].items() if name not in facts["frozen"])
