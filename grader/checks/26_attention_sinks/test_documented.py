"""The numbers that the lesson prints, and the numbers that a seed gives to the parameters."""

import torch

from grader.authors import expect, expect_drawn, expect_shape, has_parameters, manual_seed, task
from grader.sentence import batch

SCORES = torch.tensor([[1.0, 2.0, 4.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).log()  # the zeros are hidden
VALUES = torch.tensor([8.0, 4.0, 2.0, 16.0, 32.0])


def filled(learner):
    """A cache of one sink and a window of two, and the text's five tokens in two appends."""
    cache = learner.StreamingCache(1, 2)
    keys, values = torch.tensor([1.0, 0.0]).repeat(1, 1, 5, 1), VALUES[:, None].repeat(1, 1, 1, 2)
    cache.append(keys[:, :, :3], values[:, :, :3])
    cache.append(keys[:, :, 3:], values[:, :, 3:])
    return cache


@task(1)
def test_documented_sink_softmax(learner, documented):
    """Sinks of log 1 and log 9 give the lesson's weights: whole and half as large."""
    got = learner.sink_softmax(SCORES.repeat(1, 2, 1, 1), torch.tensor([1.0, 9.0]).log())
    expect_shape(got, (1, 2, 3, 3))
    expect(got[0, 0], documented["by_hand"], "the weights with a sink of log 1")
    expect(got[0, 1], documented["by_hand_larger"], "the weights with a sink of log 9")


@task(2)
def test_documented_parameters(learner):
    """Four layers without bias, drawn in the lesson's order, and a sink for each head, 0 at first."""
    layer = learner.SinkAttention(4, 6, 3, seed=7)
    shapes = {"W_query.weight": (6, 4), "W_key.weight": (6, 4), "W_value.weight": (6, 4), "out_proj.weight": (6, 6)}
    has_parameters(layer, shapes | {"sinks": (3,)})
    manual_seed(7)
    drawn = {
        name: torch.nn.Linear(columns, rows, bias=False).weight.detach() for name, (rows, columns) in shapes.items()
    }
    expect_drawn(layer, drawn | {"sinks": torch.zeros(3)})


@task(2)
def test_documented_attention(learner, documented):
    """With seed 123 the sentence gives the lesson's output, without a window and with one of two tokens."""
    for window, number in ((None, "output"), (2, "windowed")):
        got = learner.SinkAttention(3, 2, 2, window, seed=123)(batch())
        expect_shape(got, (2, 6, 2))
        for sequence in got:
            expect(sequence, documented[number], f"the output with window={window}")


@task(3)
def test_documented_positions(learner, documented):
    """Of 20 tokens, four sinks and a window of six keep the lesson's ten positions; of 7 tokens they keep all."""
    expect(learner.kept_positions(20, 4, 6), documented["kept"], "the kept positions of 20")
    expect(learner.kept_positions(7, 4, 6), documented["kept_early"], "the kept positions of 7")


@task(4)
def test_documented_cache(learner, documented):
    """After five tokens, a cache of one sink and a window of two holds the lesson's three values."""
    cache = filled(learner)
    got = cache.values.read()
    expect_shape(got, (1, 1, 3, 2), "cache.values")
    expect(got[0, 0, :, 0], documented["in_the_cache"], "the values in the cache")
    expect((len(cache), cache.num_seen.read()), (3, 5), "(len(cache), num_seen) after five tokens")


@task(5, after="documented_cache")
def test_documented_streaming(learner, documented):
    """The fifth token takes the lesson's number from the three tokens in the cache."""
    got = learner.streaming_attention(torch.tensor([1.0, 0.0]).reshape(1, 1, 1, 2), filled(learner))
    expect_shape(got, (1, 1, 1, 2))
    expect(got[0, 0, 0, 0], documented["streamed"], "what the fifth token takes")
