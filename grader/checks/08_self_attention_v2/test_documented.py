"""The printed numbers of the source documents, for the sentence "Your journey starts with one step"."""

import itertools

import torch

from grader.authors import expect, expect_drawn, manual_seed, same, task
from grader.sentence import inputs

ORDER = ("W_query", "W_key", "W_value")


def drawn(seed, bias=False, order=ORDER):
    """The parameters of three nn.Linear(3, 2), created one after the other right after the seed."""
    manual_seed(seed)
    layers = {name: torch.nn.Linear(3, 2, bias=bias) for name in order}
    return {f"{name}.{part}": p.detach() for name, layer in layers.items() for part, p in layer.named_parameters()}


@task(2)
def test_documented_context_vectors(learner, documented):
    """Seeded with 789, and with 123, the six context vectors match the printed numbers; so does the example by hand."""
    layer = learner.SelfAttention_v2(3, 2, seed=789)
    expect_drawn(layer, drawn(789))
    context = layer(inputs())
    expect(context, documented["context_vectors"])
    expect(context, documented["context_vectors_again"])
    layer = learner.SelfAttention_v2(3, 2, seed=123)
    expect(layer(inputs()), documented["context_vectors_seed_123"])
    weight = torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])
    layer = learner.SelfAttention_v2(3, 2, state=dict.fromkeys(drawn(789), weight))
    token = torch.tensor([[1.0, 2.0, 3.0]])
    expect(layer(token.expand(3, 3))[0], documented["by_hand"])  # equal tokens have equal values


@task(1)
def test_drawn_as_linear_layers(learner):
    """With qkv_bias=True each layer is drawn as nn.Linear draws it: its weight, then its bias."""
    layer = learner.SelfAttention_v2(3, 2, True, seed=7)
    got = layer.parameters(drawn(7, bias=True))
    # Which of the three comes first is judged above, by the printed numbers alone.
    orders = [drawn(7, bias=True, order=order) for order in itertools.permutations(ORDER)]
    if not any(all(same(got.get(name), value) for name, value in order.items()) for order in orders):
        expect_drawn(layer, drawn(7, bias=True))


@task(4)
def test_documented_weights_for_v1(learner, documented):
    """With the weights of a layer seeded 123, exercise 07's formula gives the printed context vectors."""
    state = drawn(123)
    weights = learner.weights_for_v1(learner.SelfAttention_v2(3, 2, state=state))
    expect(weights, tuple(weight.T for weight in state.values()))
    x = inputs()
    queries, keys, values = (x @ weight for weight in weights)
    expect(torch.softmax(queries @ keys.T / 2**0.5, dim=-1) @ values, documented["context_vectors_of_v1"])
