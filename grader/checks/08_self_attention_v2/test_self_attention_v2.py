"""Hidden checks: fresh inputs against the solution, and what must hold for any input.

Fresh checks set the parameters by name: another order of creation does not concern them.
"""

import torch

from grader.authors import (
    agrees,
    expect,
    has_parameters,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    same_gradients,
    task,
)

FRESH = ("fresh_context_vectors", "fresh_bias", "fresh_batch")  # what every promise below builds on
ORDER = ("W_query", "W_key", "W_value")


def weights(rng, d_in, d_out, bias=False):
    """Parameters that give scores of moderate size; no bias is zero."""
    state = {}
    for name in ORDER:
        state[f"{name}.weight"] = rng.randn(d_out, d_in) / d_in**0.5
        if bias:
            state[f"{name}.bias"] = rng.randn(d_out) + 0.5
    return state


def pair(learner, reference, rng, d_in, d_out, bias=False):
    """The learner's layer and the solution's, with the same parameters."""
    state = weights(rng, d_in, d_out, bias)
    mine = learner.SelfAttention_v2(d_in, d_out, bias, state=state)
    return mine, reference.SelfAttention_v2(d_in, d_out, bias, state=state)


@task(1)
def test_parameters(learner):
    """The layer has the trainable parameters of its three nn.Linear and no others, biases only if asked for."""
    plain = {f"{name}.weight": (2, 3) for name in ORDER}
    has_parameters(learner.SelfAttention_v2(3, 2), plain)
    has_parameters(learner.SelfAttention_v2(3, 2, False), plain)
    with_bias = {f"{name}.weight": (7, 4) for name in ORDER} | {f"{name}.bias": (7,) for name in ORDER}
    has_parameters(learner.SelfAttention_v2(4, 7, True), with_bias)


@task(2)
def test_fresh_context_vectors(learner, reference, rng):
    """The context vectors of one sequence are right for any weights, on new inputs of other sizes."""
    for (d_in, d_out), lengths in {(3, 5): (6, 6, 1), (3, 2): (6,), (6, 6): (6,), (4, 1): (3,)}.items():
        mine, theirs = pair(learner, reference, rng, d_in, d_out)
        for tokens in lengths:
            agrees(mine, theirs, rng.randn(tokens, d_in))
    agrees(*pair(learner, reference, rng, 2, 5), rng.strided(4, 2))  # not contiguous


@task(2)
def test_fresh_bias(learner, reference, rng):
    """With qkv_bias=True the biases of all three layers count."""
    for d_in, d_out in ((2, 5), (3, 2)):
        mine, theirs = pair(learner, reference, rng, d_in, d_out, bias=True)
        agrees(mine, theirs, rng.randn(4, d_in))


@task(3)
def test_fresh_batch(learner, reference, rng):
    """Each sequence of a batch has the context vectors that it has alone, with biases and without."""
    for (d_in, d_out), shapes in {(3, 5): ((2, 6), (1, 6), (3, 1)), (4, 4): ((4, 4),)}.items():
        mine, theirs = pair(learner, reference, rng, d_in, d_out)
        for shape in shapes:
            agrees(mine, theirs, rng.randn(*shape, d_in))
    agrees(*pair(learner, reference, rng, 3, 2, bias=True), rng.randn(2, 3, 3))
    agrees(*pair(learner, reference, rng, 2, 5), rng.strided(3, 7, 2))  # not contiguous


@task(2)
def test_large_scores(learner, rng):
    """Large scores give no NaN: each token then attends to only one token."""
    values = rng.integers(-3, 4, 2, 2, dtype=torch.float32)
    state = {"W_query.weight": torch.eye(2), "W_key.weight": torch.eye(2), "W_value.weight": values}
    layer = learner.SelfAttention_v2(2, 2, state=state)
    x = torch.tensor([[100.0, 0.0], [0.0, 50.0], [80.0, 60.0]])
    expect(layer(x), (x @ values.T)[[0, 2, 2]])  # scores from 0 to 10,000
    state["W_key.weight"] = -torch.eye(2)
    layer.load(state)
    x = torch.tensor([[100.0, 0.0], [80.0, 0.0], [90.0, 0.0]])
    expect(layer(x), (x @ values.T)[[1, 1, 1]])  # scores from -10,000 to -6,400


@task(3, after=FRESH)
def test_gradients(learner, reference, rng):
    """Gradients reach the inputs, the weights and the biases, and they are correct."""
    mine, theirs = pair(learner, reference, rng, 3, 2, bias=True)
    same_gradients(mine, theirs, rng.randn(4, 3))
    same_gradients(mine, theirs, rng.randn(2, 4, 3))


@task(3, after=FRESH)
def test_dtype_and_device(learner, reference, rng):
    """The result has the dtype and the device of the layer and its inputs."""
    x, batch = rng.rand(4, 3), rng.rand(2, 4, 3)
    mine, theirs = pair(learner, reference, rng, 3, 2)
    keeps_dtype(mine, theirs, batch, dtypes=(torch.float64,))
    keeps_dtype(mine, theirs, x)
    keeps_device(learner.SelfAttention_v2(3, 2), batch)


@task(3, after=FRESH)
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    state = weights(rng, 3, 2, bias=True)
    layer = learner.SelfAttention_v2(3, 2, True, state=state)
    keeps_inputs(layer, rng.randn(4, 3))
    keeps_inputs(layer, rng.randn(2, 4, 3))
    for name, value in layer.parameters().items():
        expect(value, state[name], f"the parameter {name} after the call")


@task(4)
def test_fresh_weights_for_v1(learner, rng):
    """weights_for_v1 gives the three matrices of any layer, in its dtype, and leaves the layer as it was."""
    for d_in, d_out in ((3, 2), (4, 4), (1, 5)):
        state = weights(rng, d_in, d_out)
        layer = learner.SelfAttention_v2(d_in, d_out, state=state)
        expect(learner.weights_for_v1(layer), tuple(weight.T for weight in state.values()))
        for name, value in layer.parameters().items():
            expect(value, state[name], f"the parameter {name} after the call")
    layer.to(dtype=torch.float64)
    expect(learner.weights_for_v1(layer), tuple(weight.T.double() for weight in state.values()))
    facts = layer.describe()
    expect(facts["training"], True, "whether the layer is in training mode afterwards")
    expect(facts["frozen"], [], "the list of parameters that are not trainable afterwards")


@task(4, each={"SelfAttention_v2": FRESH, "weights_for_v1": "fresh_weights_for_v1"})
def test_argument_names(learner, rng):
    """The arguments have the names used in the lesson: d_in, d_out and qkv_bias, x of the layer, sa_v2."""
    layer = learner.SelfAttention_v2(d_in=3, d_out=2, qkv_bias=False)
    layer(x=rng.randn(4, 3))
    learner.weights_for_v1(sa_v2=layer)
