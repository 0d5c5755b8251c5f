"""The numbers that the lesson prints: the output of exercise 13, and what a seed gives to the parameters."""

import math

import torch

from grader.authors import expect, expect_drawn, expect_shape, manual_seed, task
from grader.sentence import batch


@task(1)
def test_documented_parameters(learner, documented):
    """Seeded with 123, the layer draws the lesson's numbers; the large one has as many parameters as exercise 13."""
    layer = learner.FusedMultiHeadAttention(3, 2, 6, 0.0, 2, seed=123)
    manual_seed(123)
    layers = {"qkv": torch.nn.Linear(3, 6, bias=False), "out_proj": torch.nn.Linear(2, 2)}
    drawn = {f"{name}.{part}": p.detach() for name, one in layers.items() for part, p in one.named_parameters()}
    expect_drawn(layer, drawn)
    expect(layer.parameters()["qkv.weight"], documented["drawn"], "the parameter qkv.weight")
    facts = learner.FusedMultiHeadAttention(768, 768, 1024, 0.0, 12).describe(values=False)
    count = sum(math.prod(value.shape) for key, value in facts["parameters"].items() if key not in facts["frozen"])
    expect(count, documented["parameters"], "the number of trainable parameters")


def unfused(seed: int, d_in: int, d_out: int) -> dict[str, torch.Tensor]:
    """The state of a layer of exercise 13 without bias, right after the seed, with its mask."""
    manual_seed(seed)
    layers = {name: torch.nn.Linear(d_in, d_out, bias=False) for name in ("W_query", "W_key", "W_value")}
    layers["out_proj"] = torch.nn.Linear(d_out, d_out)
    state = {f"{name}.{part}": p.detach() for name, one in layers.items() for part, p in one.named_parameters()}
    return {"mask": torch.ones(6, 6).triu(1)} | state


@task(2)
def test_documented_load(learner, documented):
    """With the parameters of exercise 13, seeded with 123, the output is that of exercise 13."""
    layer = learner.FusedMultiHeadAttention(3, 2, 6, 0.0, 2)
    layer.load_unfused(unfused(123, 3, 2))
    output = layer(batch())
    expect_shape(output, (2, 6, 2))
    expect(output[0], documented["output"], "the output of the first sequence")
    expect(output[1], documented["output"], "the output of the second sequence")
