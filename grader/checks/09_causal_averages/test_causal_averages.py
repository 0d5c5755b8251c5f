"""Hidden checks: fresh inputs against the solution, and what must hold for any input."""

import torch

from grader.authors import agrees, expect, expect_shape, keeps_device, keeps_dtype, keeps_inputs, same_gradients, task

FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "average_loop": "fresh_average_loop",
    "average_matmul": "fresh_average_matmul",
    "average_softmax": "fresh_average_softmax",
}
SHAPES = ((2, 5, 3), (1, 1, 1), (1, 6, 2), (3, 1, 2), (4, 4, 4), (3, 7, 4), (2, 19, 2))  # (B, T, d)
MANY = (1, 260, 1)  # of the functions that are quick: small, but more tokens than a matrix of a fixed size has
HUGE = {torch.float32: 2.0**120, torch.float64: 1e300}  # times e^−80 and e^−600 they are still far from 0
AVERAGES = ("average_loop", "average_matmul", "average_softmax")


def right_on_new_inputs(name, learner, reference, rng, shapes=SHAPES):
    """One of the three averages, for many shapes, once not contiguous."""
    mine, theirs = getattr(learner, name), getattr(reference, name)
    for shape in shapes:
        agrees(mine, theirs, rng.randn(*shape))
    agrees(mine, theirs, rng.strided(2, 5, 3))


@task(1)
def test_fresh_average_loop(learner, reference, rng):
    """average_loop is right for new inputs: one sequence or several, of any length."""
    right_on_new_inputs("average_loop", learner, reference, rng)


@task(2)
def test_fresh_averaging_weights(learner, reference):
    """averaging_weights is right for any number of tokens."""
    for tokens in (5, 1, 2, 19, 4, 7, MANY[1]):
        agrees(learner.averaging_weights, reference.averaging_weights, tokens)


@task(3)
def test_fresh_average_matmul(learner, reference, rng):
    """average_matmul is right for new inputs: one sequence or several, of any length."""
    right_on_new_inputs("average_matmul", learner, reference, rng, (*SHAPES, MANY))


@task(4)
def test_fresh_average_softmax(learner, reference, rng):
    """average_softmax is right for new inputs: one sequence or several, of any length."""
    right_on_new_inputs("average_softmax", learner, reference, rng, (*SHAPES, MANY))


@task(4)
def test_future_stays_hidden(learner, rng):
    """The averages of the first tokens stay as they are, however much the later tokens change."""
    for dtype, huge in HUGE.items():
        x = rng.randn(2, 6, 3, dtype=dtype)
        changed = x.clone()
        changed[:, 4:] += huge
        for name in AVERAGES:
            before, after = getattr(learner, name)(x), getattr(learner, name)(changed)
            expect_shape(before, (2, 6, 3))
            expect_shape(after, (2, 6, 3))
            expect(after[:, :4], before[:, :4], f"{name} of tokens before the changed ones")


@task(4)
def test_large_values(learner, reference, rng):
    """Values around ±10,000 are averaged as well as small ones."""
    x = rng.integers(9_000, 11_000, 2, 6, 2, dtype=torch.float32) * torch.tensor([1.0, -1.0])
    for name in AVERAGES:
        agrees(getattr(learner, name), getattr(reference, name), x)


@task(4, each=FUNCTIONS)
def test_gradients(learner, reference, rng):
    """Gradients reach the inputs, and they are correct."""
    x = rng.randn(2, 4, 3)
    for name in AVERAGES:
        same_gradients(getattr(learner, name), getattr(reference, name), x)


@task(4, each=FUNCTIONS)
def test_dtype_and_device(learner, reference, rng):
    """The averages keep the dtype and the device of the inputs."""
    x = rng.randn(2, 4, 3)
    for name in AVERAGES:
        keeps_dtype(getattr(learner, name), getattr(reference, name), x)
        keeps_device(getattr(learner, name), x)


@task(4, each=FUNCTIONS | {"averaging_weights": "fresh_averaging_weights"})
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    x = rng.randn(2, 4, 3)
    keeps_inputs(learner.averaging_weights, 4)
    for name in AVERAGES:
        keeps_inputs(getattr(learner, name), x)


@task(4, each=FUNCTIONS | {"averaging_weights": "fresh_averaging_weights"})
def test_argument_names(learner, rng):
    """The arguments have the names used in the lesson: T of averaging_weights, and x of the three averages."""
    learner.averaging_weights(T=4)
    for name in AVERAGES:
        getattr(learner, name)(x=rng.randn(2, 4, 3))
