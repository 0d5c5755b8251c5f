"""Hidden checks: fresh inputs against the solution, and what must hold for any input.

Fresh checks set the weights by name: another order of creation does not concern them.
"""

import torch

from grader.authors import (
    Mismatch,
    agrees,
    expect,
    expect_shape,
    has_parameters,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    same,
    same_gradients,
    task,
)

FRESH = ("fresh_context_vectors",)  # what every promise below builds on
ORDER = ("W_query", "W_key", "W_value")
# (d_in, d_out) -> the numbers of tokens; the same number twice shows what one call leaves for the next.
SIZES = {(3, 5): (6, 6, 1), (3, 2): (6,), (6, 6): (6,), (4, 1): (3,)}


def weights(rng, d_in, d_out):
    """Three weight matrices that give scores of moderate size."""
    return {name: rng.randn(d_in, d_out) / d_in**0.5 for name in ORDER}


def pair(learner, reference, rng, d_in, d_out):
    """The learner's layer and the solution's, with the same weights."""
    state = weights(rng, d_in, d_out)
    mine = learner.SelfAttention_v1(d_in, d_out, state=state)
    return mine, reference.SelfAttention_v1(d_in, d_out, state=state)


@task(1)
def test_parameters(learner):
    """The layer has the trainable parameters W_query, W_key and W_value, (d_in, d_out) each, and no others."""
    has_parameters(learner.SelfAttention_v1(3, 2), dict.fromkeys(ORDER, (3, 2)))
    has_parameters(learner.SelfAttention_v1(4, 7), dict.fromkeys(ORDER, (4, 7)))


@task(1)
def test_weights_drawn_anew(learner):
    """Each matrix of each new layer is drawn for it, evenly from 0 to 1."""
    sizes = (30, 40)
    first = learner.SelfAttention_v1(*sizes, seed=1).parameters(dict.fromkeys(ORDER, sizes))
    second = learner.SelfAttention_v1(*sizes, seed=2).parameters(dict.fromkeys(ORDER, sizes))
    for name in ORDER:
        if name not in first or name not in second:
            raise Mismatch(f"the layer has no parameter called {name} (it has: {', '.join(first) or 'none'})"[:200])
        expect(tuple(first[name].shape), sizes, f"the parameter {name}")
        if same(first[name], second[name]):
            raise Mismatch(f"{name} is the same after another seed: nothing in __init__ may set the seed")
        values = first[name].double()
        places = ["below 0"] * bool(values.min() < 0) + ["above 1"] * bool(values.max() > 1)
        if places:
            raise Mismatch(f"{name} holds numbers {' and '.join(places)}: torch.rand draws none")
        if abs(values.mean() - 0.5) > 0.06 or abs(values.std() - 0.2887) > 0.06:
            raise Mismatch(f"the numbers of {name} do not lie evenly between 0 and 1")
    for one, other in (("W_query", "W_key"), ("W_query", "W_value"), ("W_key", "W_value")):
        if same(first[one], first[other]):
            raise Mismatch(f"{one} and {other} hold the same numbers: each is a draw of its own")


@task(2)
def test_fresh_context_vectors(learner, reference, rng):
    """The context vectors are right for any weights, on new inputs of other sizes."""
    for (d_in, d_out), lengths in SIZES.items():
        mine, theirs = pair(learner, reference, rng, d_in, d_out)
        for tokens in lengths:
            agrees(mine, theirs, rng.randn(tokens, d_in))
    agrees(*pair(learner, reference, rng, 2, 5), rng.strided(4, 2))  # not contiguous


@task(2)
def test_shuffled_tokens(learner, rng):
    """Shuffle the tokens, and the context vectors are shuffled in the same way: nothing else changes."""
    tokens = 9  # more than any other check has, so that a fixed number of tokens shows
    layer = learner.SelfAttention_v1(3, 2, state=weights(rng, 3, 2))
    x, order = rng.randn(tokens, 3), rng.permutation(tokens)
    context = layer(x)
    expect_shape(context, (tokens, 2))
    expect(layer(x[order]), context[order], "the result for the shuffled tokens")


@task(2)
def test_large_scores(learner, rng):
    """Large scores give no NaN: each token then attends to only one token."""
    x = torch.tensor([[100.0, 0.0], [0.0, 50.0], [80.0, 60.0]])
    state = {"W_query": torch.eye(2), "W_key": torch.eye(2), "W_value": rng.integers(-3, 4, 2, 2, dtype=x.dtype)}
    values = x @ state["W_value"]
    layer = learner.SelfAttention_v1(2, 2, state=state)
    expect(layer(x), values[[0, 2, 2]])  # scores from 0 to 10,000
    state["W_key"] = -torch.eye(2)
    layer.load(state)
    x = torch.tensor([[100.0, 0.0], [80.0, 0.0], [90.0, 0.0]])
    values = x @ state["W_value"]
    expect(layer(x), values[[1, 1, 1]])  # scores from -10,000 to -6,400


@task(2, after=FRESH)
def test_gradients(learner, reference, rng):
    """Gradients reach the inputs and all three weight matrices, and they are correct."""
    mine, theirs = pair(learner, reference, rng, 3, 2)
    same_gradients(mine, theirs, rng.randn(4, 3))


@task(2, after=FRESH)
def test_dtype_and_device(learner, reference, rng):
    """The result has the dtype and the device of the layer and its inputs."""
    x = rng.rand(4, 3)
    mine, theirs = pair(learner, reference, rng, 3, 2)
    keeps_dtype(mine, theirs, x)
    keeps_device(learner.SelfAttention_v1(3, 2), x)


@task(2, after=FRESH)
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    state = weights(rng, 3, 2)
    layer = learner.SelfAttention_v1(3, 2, state=state)
    keeps_inputs(layer, rng.randn(4, 3))
    keeps_inputs(layer, rng.randn(1, 3))
    for name, value in layer.parameters().items():
        expect(value, state[name], f"the parameter {name} after the call")


@task(2, after=FRESH)
def test_argument_names(learner, rng):
    """The arguments have the names used in the lesson: d_in and d_out, and x of the layer."""
    layer = learner.SelfAttention_v1(d_in=3, d_out=2)
    layer(x=rng.randn(4, 3))
