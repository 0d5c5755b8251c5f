"""The numbers that the lesson prints: the output of exercise 13, all at once and with the last token by itself."""

import math

import torch

from grader.authors import Mismatch, expect, expect_drawn, expect_shape, manual_seed, task
from grader.sentence import batch


def output_and_cache(answer, heads: tuple[int, ...]):
    """An answer's output, keys and values, the latter of the shape `heads`. Raises Mismatch where it is none."""
    if type(answer) is not tuple or len(answer) != 2 or type(answer[1]) is not tuple or len(answer[1]) != 2:
        raise Mismatch("the result is not (output, (keys, values)), two tuples of two")
    for value, name in zip(answer[1], ("keys", "values")):
        expect_shape(value, heads, f"the {name} in the cache")
    return answer[0], *answer[1]


@task(1)
def test_documented_attention(learner, documented):
    """Seeded with 123, your layer gives the output of exercise 13, and the keys and values in the lesson."""
    layer = learner.CachedAttention(3, 2, 2, seed=123)
    output, keys, values = output_and_cache(layer(batch()), (2, 2, 6, 1))
    manual_seed(123)
    layers = {name: torch.nn.Linear(3, 2, bias=False) for name in ("W_query", "W_key", "W_value")}
    layers["out_proj"] = torch.nn.Linear(2, 2)
    drawn = {f"{name}.{part}": p.detach() for name, one in layers.items() for part, p in one.named_parameters()}
    expect_drawn(layer, drawn)
    expect_shape(output, (2, 6, 2), "the output")
    expect(output[0], documented["output"], "the output of the first sequence")
    expect(output[1], documented["output"], "the output of the second sequence")
    expect(keys[0, :, :, 0], documented["keys"], "the keys in the cache")
    expect(values[0, :, :, 0], documented["values"], "the values in the cache")
    facts = learner.CachedAttention(512, 512, 8).describe(values=False)
    count = sum(math.prod(value.shape) for key, value in facts["parameters"].items() if key not in facts["frozen"])
    expect(count, documented["parameters"], "the number of trainable parameters")


@task(2)
def test_documented_steps(learner, documented):
    """The sixth token, fed alone with the cache of the first five, gets the same output as among all six."""
    layer = learner.CachedAttention(3, 2, 2, seed=123)
    _, keys, values = output_and_cache(layer(batch()[:, :5]), (2, 2, 5, 1))
    output, _, _ = output_and_cache(layer(batch()[:, 5:], (keys, values)), (2, 2, 6, 1))
    expect_shape(output, (2, 1, 2), "the output")
    expect(output[0], documented["last"], "the output of the sixth token")
