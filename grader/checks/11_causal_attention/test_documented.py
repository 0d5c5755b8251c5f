"""The published numbers, for two copies of the sentence "Your journey starts with one step"."""

import torch

from grader.authors import Mismatch, expect, expect_drawn, expect_shape, manual_seed, task
from grader.sentence import batch

LAYERS = ("W_query.weight", "W_key.weight", "W_value.weight")


def drawn(*heads: str) -> dict[str, torch.Tensor]:
    """What seed 123 gives to the layers of one head after the other, each (2, 3)."""
    with torch.random.fork_rng(devices=[]):
        manual_seed(123)
        return {head + name: torch.nn.Linear(3, 2, bias=False).weight.detach() for head in heads for name in LAYERS}


def without_bias(layer) -> None:
    """A bias is drawn too, and moves all that is drawn after it: say so first."""
    if any(name.endswith(".bias") for name in layer.parameters()):
        raise Mismatch("the layers have a bias, though qkv_bias is False")


@task(1)
def test_documented_causal_attention(learner, documented):
    """The context vectors of both sequences are the published ones."""
    layer = learner.CausalAttention(3, 2, 6, 0.0, seed=123)
    without_bias(layer)
    expect_drawn(layer, drawn(""))
    context = layer(batch())
    expect_shape(context, (2, 6, 2))
    expect(context[0], documented["causal_attention"], "the result for the first sequence")
    expect(context[1], documented["causal_attention"], "the result for the second sequence")


@task(4)
def test_documented_wrapper(learner, documented):
    """The outputs of two heads side by side are the published ones."""
    layer = learner.MultiHeadAttentionWrapper(3, 2, 6, 0.0, 2, seed=123)
    without_bias(layer)
    expect_drawn(layer, drawn("heads.0.", "heads.1."))
    context = layer(batch())
    expect_shape(context, (2, 6, 4))
    for sequence in context:
        expect(sequence[:, :2], documented["wrapper_first_head"], "the part of the first head (columns 0 and 1)")
        expect(sequence[:, 2:], documented["wrapper_second_head"], "the part of the second head (columns 2 and 3)")
