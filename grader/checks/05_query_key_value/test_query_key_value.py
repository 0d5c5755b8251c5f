"""Hidden checks: fresh inputs against the solution, and what must hold for any input."""

import torch

from grader.authors import (
    Mismatch,
    agrees,
    expect,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    manual_seed,
    same,
    same_gradients,
    task,
)

FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "project": "fresh_projection",
    "project_columns": "fresh_column_projection",
}
# A square first: there, what is projected from the wrong tensor has wrong numbers and the right shape.
ROW_SIZES = ((5, 4, 4), (6, 3, 2), (1, 3, 2), (3, 3, 3), (2, 7, 3), (8, 2, 5), (1, 1, 1))  # T, d_in, d_out
COLUMN_SIZES = (  # T, d_in, d_k, d_v
    (4, 4, 4, 6),
    (4, 4, 4, 4),
    (6, 16, 24, 28),
    (5, 3, 2, 2),
    (1, 3, 2, 4),
    (3, 2, 3, 6),
    (2, 7, 3, 1),
    (1, 1, 1, 1),
)
NAMES = ("W_query", "W_key", "W_value")


@task(1)
def test_fresh_weights(learner, rng):
    """Other sizes and seeds give other numbers of torch.rand, drawn one matrix after the other."""
    for d_in, d_out in ((2, 5), (2, 5), (4, 4), (7, 3), (1, 1)):
        seed = rng.integer(1_000, 1_000_000)
        drawn = learner.init_weights(d_in, d_out, seed=seed)
        manual_seed(seed)
        own = [torch.rand(d_in, d_out) for _ in NAMES]
        if isinstance(drawn, (list, tuple)) and len(drawn) == 3:
            # Which matrix is drawn first is asked by the documented numbers.
            places = [next((i for i, numbers in enumerate(own) if same(got, numbers)), -1) for got in drawn]
            if sorted(places) == [0, 1, 2]:
                continue
        expect(drawn, own, "W_query, W_key, W_value, right after the seed,")


@task(1, after="fresh_weights")
def test_not_trainable(learner):
    """The three matrices do not ask for gradients: each is a tensor with requires_grad=False."""
    drawn = learner.init_weights(4, 3)
    expect([tuple(part.shape) for part in drawn], [(4, 3)] * 3, "the shapes of W_query, W_key, W_value")
    for name, part in zip(NAMES, drawn, strict=True):
        if part.facts["requires_grad"]:
            raise Mismatch(f"{name} requires gradients; expected requires_grad=False")


@task(2)
def test_fresh_projection(learner, reference, rng):
    """project is right on new inputs of other sizes, with whatever weights it is given."""
    mine, theirs = learner.project, reference.project
    for tokens, d_in, d_out in ROW_SIZES:
        agrees(mine, theirs, rng.randn(tokens, d_in), *(rng.randn(d_in, d_out) for _ in NAMES))
    agrees(mine, theirs, rng.strided(5, 4), *(rng.strided(4, 3) for _ in NAMES))
    agrees(mine, theirs, rng.randn(4, 3), *(rng.randn(3, 2) for _ in NAMES))
    agrees(mine, theirs, *(rng.randn(*shape, dtype=torch.float64) for shape in ((4, 3), (3, 2), (3, 2), (3, 2))))


@task(3)
def test_fresh_column_projection(learner, reference, rng):
    """project_columns is right on new inputs of other sizes; the values may be longer or shorter than the keys."""
    mine, theirs = learner.project_columns, reference.project_columns
    for tokens, d_in, d_k, d_v in COLUMN_SIZES:
        agrees(mine, theirs, rng.randn(tokens, d_in), *(rng.randn(size, d_in) for size in (d_k, d_k, d_v)))
    agrees(mine, theirs, rng.strided(5, 4), *(rng.strided(size, 4) for size in (3, 3, 2)))
    agrees(mine, theirs, rng.randn(4, 3), rng.randn(2, 3), rng.randn(2, 3), rng.randn(5, 3))
    agrees(mine, theirs, *(rng.randn(*shape, dtype=torch.float64) for shape in ((4, 3), (2, 3), (2, 3), (5, 3))))


@task(3, each=FUNCTIONS)
def test_gradients(learner, reference, rng):
    """Gradients reach the inputs and all three matrices, and they are correct."""
    inputs = rng.randn(4, 3)
    same_gradients(learner.project, reference.project, inputs, *(rng.randn(3, 2) for _ in NAMES))
    columns = [rng.randn(size, 3) for size in (2, 2, 5)]
    same_gradients(learner.project_columns, reference.project_columns, inputs, *columns)


@task(3, each=FUNCTIONS)
def test_dtype_and_device(learner, reference, rng):
    """The results keep the dtype and the device of the inputs."""
    inputs = rng.randn(4, 3)
    rows = [rng.randn(3, 2) for _ in NAMES]
    columns = [rng.randn(size, 3) for size in (2, 2, 5)]
    for mine, theirs, weights in (
        (learner.project, reference.project, rows),
        (learner.project_columns, reference.project_columns, columns),
    ):
        keeps_dtype(mine, theirs, inputs, *weights)
        keeps_device(mine, inputs, *weights)


@task(3, each=FUNCTIONS)
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    inputs = rng.randn(4, 3)
    keeps_inputs(learner.project, inputs, *(rng.randn(3, 2) for _ in NAMES))
    keeps_inputs(learner.project_columns, inputs, *(rng.randn(size, 3) for size in (2, 2, 5)))


@task(3, each=FUNCTIONS | {"init_weights": "fresh_weights"})
def test_argument_names(learner, rng):
    """Arguments have the lesson's names: W_query, W_key, W_value of project; W_Q, W_K, W_V of the other."""
    learner.init_weights(d_in=3, d_out=2)
    learner.project(inputs=rng.randn(4, 3), **{name: rng.randn(3, 2) for name in NAMES})
    learner.project_columns(inputs=rng.randn(4, 3), W_Q=rng.randn(2, 3), W_K=rng.randn(2, 3), W_V=rng.randn(5, 3))
