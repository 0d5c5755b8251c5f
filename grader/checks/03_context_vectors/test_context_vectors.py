"""Hidden checks: fresh inputs against the solution, and what must hold for any input."""

import torch

from grader.authors import agrees, expect, keeps_device, keeps_dtype, keeps_inputs, same_gradients, task

FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "attention_weights": "fresh_attention_weights",
    "context_vector": "fresh_context_vector",
    "context_vectors": "fresh_context_vectors",
}

# The telling ones first: a check ends at its first failure, and of one token's weight, 1, many mistakes are alike.
SHAPES = ((5, 2), (2, 3), (7, 16), (6, 3), (3, 3), (4, 1), (1, 4), (1, 1))  # (T, d)


def fresh(rng):
    """Inputs of many shapes, one of them not contiguous."""
    yield from (rng.randn(*shape) for shape in SHAPES)
    yield rng.strided(5, 4)


@task(1)
def test_fresh_attention_weights(learner, reference, rng):
    """attention_weights is right on new inputs of other sizes."""
    for inputs in fresh(rng):
        agrees(learner.attention_weights, reference.attention_weights, inputs)


@task(2)
def test_fresh_context_vector(learner, reference, rng):
    """context_vector is right on new inputs and for any token."""
    inputs = rng.rand(5, 2) + 0.1
    inputs[2] /= 10  # a token that looks at each of the others more than at itself, as no token of the lesson does
    agrees(learner.context_vector, reference.context_vector, inputs, 2)
    for inputs in fresh(rng):
        for index in sorted({0, len(inputs) - 1}, reverse=True):  # with 0 first, a sum that begins in a row is as wrong
            agrees(learner.context_vector, reference.context_vector, inputs, index)
    agrees(learner.context_vector, reference.context_vector, rng.randn(5, 2), 2)


@task(3)
def test_fresh_context_vectors(learner, reference, rng):
    """context_vectors is right on new inputs of other sizes."""
    for inputs in fresh(rng):
        agrees(learner.context_vectors, reference.context_vectors, inputs)


@task(3, each=FUNCTIONS)
def test_large_scores(learner):
    """Large scores, from −10,000 to 10,000, give no NaN: each token attends only to its highest score."""
    inputs = torch.tensor([[100.0, 0.0], [-80.0, 0.0], [0.0, 50.0], [80.0, 60.0]])
    winners = [0, 1, 3, 3]  # of the scores [1e4, −8000, 0, 8000], [−8000, 6400, 0, −6400], [0, 0, 2500, 3000], …
    expected = torch.eye(4)[winners]
    expect(learner.attention_weights(inputs), expected)
    expect(learner.context_vector(inputs, 2), inputs[3])
    expect(learner.context_vector(inputs, 0), inputs[0])
    expect(learner.context_vectors(inputs), inputs[winners])


@task(3, each=FUNCTIONS)
def test_gradients(learner, reference, rng):
    """Gradients reach the inputs, and they are correct."""
    inputs = rng.randn(4, 3)
    same_gradients(learner.attention_weights, reference.attention_weights, inputs)
    same_gradients(learner.context_vector, reference.context_vector, inputs, 2)
    same_gradients(learner.context_vectors, reference.context_vectors, inputs)


@task(3, each=FUNCTIONS)
def test_dtype_and_device(learner, reference, rng):
    """The result keeps the dtype and the device of the inputs."""
    inputs = rng.rand(4, 3)  # small numbers: half types hold their scores
    for name, arguments in (("attention_weights", ()), ("context_vector", (1,)), ("context_vectors", ())):
        mine, theirs = getattr(learner, name), getattr(reference, name)
        keeps_dtype(mine, theirs, inputs, *arguments)
        keeps_device(mine, inputs, *arguments)


@task(3, each=FUNCTIONS)
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    inputs = rng.randn(4, 3)
    keeps_inputs(learner.attention_weights, inputs)
    keeps_inputs(learner.context_vector, inputs, 1)
    keeps_inputs(learner.context_vectors, inputs)


@task(3, each=FUNCTIONS)
def test_argument_names(learner, rng):
    """The arguments have the names used in the lesson: inputs, and query_index of context_vector."""
    learner.attention_weights(inputs=rng.randn(4, 3))
    learner.context_vector(inputs=rng.randn(4, 3), query_index=1)
    learner.context_vectors(inputs=rng.randn(4, 3))
