"""Hidden checks: fresh inputs against the solution, and what must hold for any input.

Fresh checks set the weights by name: another order of creation does not concern them.
"""

import torch

from grader.authors import (
    Mismatch,
    agrees,
    expect,
    has_parameters,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    same,
    same_gradients,
    task,
)

FRESH = ("fresh_context_vectors",)  # what every promise below builds on
# d_in, d_out_kq, d_out_v, and pairs of T_1, T_2; the same pair twice shows what one call leaves for the next.
SIZES = ((3, 7, 5, (6, 8), (6, 8)), (4, 5, 4, (4, 4), (2, 1)), (2, 3, 1, (1, 5), (7, 3)), (5, 4, 4, (3, 4), (4, 5)))


def weights(rng, d_in, d_out_kq, d_out_v):
    """Three weight matrices that give scores of moderate size."""
    sizes = {"W_query": d_out_kq, "W_key": d_out_kq, "W_value": d_out_v}
    return {name: rng.randn(d_in, size) / d_in**0.5 for name, size in sizes.items()}


def pair(learner, reference, rng, *sizes):
    """The learner's layer and the solution's, with the same weights."""
    state = weights(rng, *sizes)
    return learner.CrossAttention(*sizes, state=state), reference.CrossAttention(*sizes, state=state)


@task(1)
def test_parameters(learner):
    """Your layer has the trainable parameters W_query, W_key and W_value in the lesson's shapes, and no others."""
    shapes = {"W_query": (3, 2), "W_key": (3, 2), "W_value": (3, 4)}
    one, two = (learner.CrossAttention(3, 2, 4, seed=seed) for seed in (1, 2))
    has_parameters(one, shapes)
    if same(one.parameters()["W_query"], two.parameters().get("W_query")):
        raise Mismatch("W_query is the same after another seed: nothing in __init__ may set the seed")
    shapes = {"W_query": (5, 7), "W_key": (5, 7), "W_value": (5, 6)}
    has_parameters(learner.CrossAttention(5, 7, 6), shapes)


@task(2)
def test_fresh_context_vectors(learner, reference, rng):
    """The context vectors are right for any weights, and for two sequences of any lengths."""
    for *sizes, one, other in SIZES:
        mine, theirs = pair(learner, reference, rng, *sizes)
        for T_1, T_2 in (one, other):
            agrees(mine, theirs, rng.randn(T_1, sizes[0]), rng.randn(T_2, sizes[0]))
    mine, theirs = pair(learner, reference, rng, 3, 4, 2)
    x_1, x_2 = rng.strided(4, 3), rng.strided(5, 3)  # not contiguous
    x_1[2], x_2[1] = 0.0, 0.0  # tokens like others
    agrees(mine, theirs, x_1, x_2)


@task(2)
def test_fresh_self_attention(learner, reference, rng):
    """A sequence that looks at itself gives plain self-attention."""
    mine, theirs = pair(learner, reference, rng, 4, 3, 3)
    x = rng.randn(5, 4)
    agrees(mine, theirs, x, x)


@task(2)
def test_large_scores(learner, rng):
    """Large scores give no NaN; each token then attends to a single token of the other sequence."""
    x_1 = torch.tensor([[100.0, 0.0], [0.0, 50.0]])
    x_2 = torch.tensor([[100.0, 0.0], [0.0, 100.0], [-80.0, -60.0]])
    state = {"W_query": torch.eye(2), "W_key": torch.eye(2), "W_value": rng.integers(-3, 4, 2, 3, dtype=x_1.dtype)}
    layer = learner.CrossAttention(2, 2, 3, state=state)
    values = x_2 @ state["W_value"]
    expect(layer(x_1, x_2), values[[0, 1]])  # scores from -8,000 to 10,000
    x_2 = torch.tensor([[-100.0, -100.0], [-80.0, -80.0]])
    values = x_2 @ state["W_value"]
    expect(layer(x_1, x_2), values[[1, 1]])  # scores from -10,000 to -4,000


@task(2, after=FRESH)
def test_gradients(learner, reference, rng):
    """Gradients flow back to both sequences and all three weight matrices, and they are correct."""
    mine, theirs = pair(learner, reference, rng, 3, 2, 4)
    same_gradients(mine, theirs, rng.randn(4, 3), rng.randn(5, 3))


@task(2, after=FRESH)
def test_dtype_and_device(learner, reference, rng):
    """The output keeps the dtype and device of the layer and its inputs."""
    x_1, x_2 = rng.rand(4, 3), rng.rand(5, 3)
    mine, theirs = pair(learner, reference, rng, 3, 2, 4)
    keeps_dtype(mine, theirs, x_1, x_2)
    keeps_device(learner.CrossAttention(3, 2, 4), x_1, x_2)


@task(2, after=FRESH)
def test_inputs_unchanged(learner, rng):
    """Calling the layer twice gives the same result, and it changes neither sequence nor the weights."""
    state = weights(rng, 3, 2, 4)
    layer = learner.CrossAttention(3, 2, 4, state=state)
    keeps_inputs(layer, rng.randn(4, 3), rng.randn(5, 3))
    for name, value in layer.parameters().items():
        expect(value, state[name], f"the parameter {name} after the call")


@task(2, after=FRESH)
def test_argument_names(learner, reference, rng):
    """Arguments have the names used in the lesson: d_in, d_out_kq and d_out_v; x_1 and x_2 of the layer."""
    state = weights(rng, 3, 2, 4)
    mine = learner.CrossAttention(d_out_v=4, d_out_kq=2, d_in=3, state=state)
    agrees(mine, reference.CrossAttention(3, 2, 4, state=state), x_2=rng.randn(5, 3), x_1=rng.randn(4, 3))
