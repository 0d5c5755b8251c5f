"""Hidden checks: fresh inputs against the solution, and what must hold for any input."""

import torch

from grader.authors import agrees, expect, keeps_device, keeps_dtype, keeps_inputs, same_gradients, task

FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "attention_score": "fresh_scores",
    "scaled_attention_weights": ("fresh_weights", "fresh_weights_of_one_query"),
    "scaled_dot_product_attention": ("fresh_context_vectors", "fresh_context_vector_of_one_query"),
    "score_variances": "fresh_variances",
}

# Leading dimensions, T_q, T_k, d_k, d_v. Equal sizes hide a wrong transpose, other sizes a wrong scale.
SHAPES = (((), 1, 1, 3, 2), ((), 3, 5, 4, 7), ((3,), 3, 3, 3, 5), ((2,), 1, 6, 5, 1), ((2, 3), 4, 5, 7, 2))
ONE_QUERY = ((1, 4, 1), (3, 3, 3), (5, 16, 4), (5, 16, 4))  # T_k, d_k, d_v; the last twice: no memory

# Scores up to ±10,000 whose scaled differences are 0 or at least 500: (3, 4) and (4, 4), d_k = 4.
LARGE_QUERIES = torch.tensor([[100.0, 0, 0, 0], [0, -100, 0, 0], [-100, -100, -100, 0]])
LARGE_KEYS = torch.tensor([[100.0, 0, 0, 0], [0, 100, 0, 0], [0, 0, 50, 0], [60, 80, 0, 0]])
LARGE_WEIGHTS = torch.tensor([[1.0, 0, 0, 0], [0.5, 0, 0.5, 0], [0, 0, 1, 0]])


def fresh(rng):
    """Queries, keys and values of many shapes, one of them not contiguous and with a key of zeros."""
    for lead, T_q, T_k, d_k, d_v in SHAPES:
        yield rng.randn(*lead, T_q, d_k), rng.randn(*lead, T_k, d_k), rng.randn(*lead, T_k, d_v)
    keys = rng.strided(2, 5, 4)
    keys[0, 1] = 0.0  # a key like others
    yield rng.strided(2, 3, 4), keys, rng.strided(2, 5, 6)


def fresh_for_one_query(rng):
    """One query with its keys and values, once not contiguous and with a key of zeros."""
    for T_k, d_k, d_v in ONE_QUERY:
        yield rng.randn(d_k), rng.randn(T_k, d_k), rng.randn(T_k, d_v)
    keys = rng.strided(5, 4)
    keys[2] = 0.0  # a key like others
    yield rng.randn(4, 3)[:, 1], keys, rng.strided(5, 2)


def batches(rng):
    """All four functions, each with arguments: those that take batches with a batch."""
    query, keys, values = rng.randn(3, 5, 4), rng.randn(3, 6, 4), rng.randn(3, 6, 7)
    yield "attention_score", (rng.randn(3), rng.randn(3))
    yield "scaled_attention_weights", (query, keys)
    yield "scaled_dot_product_attention", (query, keys, values)
    yield "score_variances", (query, keys)


def one_query(rng):
    """The two functions that take one query, with arguments."""
    query, keys, values = rng.randn(3), rng.randn(4, 3), rng.randn(4, 2)
    yield "scaled_attention_weights", (query, keys)
    yield "scaled_dot_product_attention", (query, keys, values)


@task(1)
def test_fresh_scores(learner, reference, rng):
    """attention_score is right for new vectors of other sizes, and it is not scaled."""
    for d_k in (3, 16, 1):  # of one number, a product, a cosine and a softmax can be alike
        agrees(learner.attention_score, reference.attention_score, rng.randn(d_k), rng.randn(d_k))
    query, key = rng.randn(5, 4)[:, 2], rng.randn(5)
    agrees(learner.attention_score, reference.attention_score, query, key)


@task(2)
def test_fresh_weights(learner, reference, rng):
    """scaled_attention_weights is right for new queries and keys: one sequence, batches, heads."""
    mine, theirs = learner.scaled_attention_weights, reference.scaled_attention_weights
    for query, keys, _ in fresh(rng):
        agrees(mine, theirs, query, keys)


@task(2)
def test_fresh_weights_of_one_query(learner, reference, rng):
    """scaled_attention_weights is right for one query: a vector goes in, a vector comes out."""
    for query, keys, _ in fresh_for_one_query(rng):
        agrees(learner.scaled_attention_weights, reference.scaled_attention_weights, query, keys)


@task(3)
def test_fresh_context_vectors(learner, reference, rng):
    """scaled_dot_product_attention is right for new inputs: one sequence, batches, heads, any d_v."""
    mine, theirs = learner.scaled_dot_product_attention, reference.scaled_dot_product_attention
    for query, keys, values in fresh(rng):
        agrees(mine, theirs, query, keys, values)


@task(3)
def test_fresh_context_vector_of_one_query(learner, reference, rng):
    """scaled_dot_product_attention is right for one query: its context vector comes back."""
    for query, keys, values in fresh_for_one_query(rng):
        agrees(learner.scaled_dot_product_attention, reference.scaled_dot_product_attention, query, keys, values)


@task(4)
def test_fresh_variances(learner, reference, rng):
    """score_variances gives the two unbiased variances, over all scores at once, as scalar tensors."""
    mine, theirs = learner.score_variances, reference.score_variances
    for lead, T_q, T_k, d_k in (((), 3, 4, 2), ((3,), 4, 4, 4), ((2, 3), 2, 3, 5)):
        agrees(mine, theirs, rng.randn(*lead, T_q, d_k), rng.randn(*lead, T_k, d_k))
    agrees(mine, theirs, rng.strided(2, 3, 4), rng.strided(2, 5, 4))
    agrees(mine, theirs, 0.5 + rng.randn(4, 3), 0.5 + rng.randn(5, 3))  # scores whose mean is not 0


@task(3)
def test_large_scores(learner):
    """Scores of ±10,000 give no NaN: each query then attends only to its best keys."""
    values = torch.arange(12.0).reshape(4, 3)
    expect(learner.scaled_attention_weights(LARGE_QUERIES, LARGE_KEYS), LARGE_WEIGHTS)
    expect(learner.scaled_dot_product_attention(LARGE_QUERIES, LARGE_KEYS, values), LARGE_WEIGHTS @ values)
    for query, weights in zip(LARGE_QUERIES[1:], LARGE_WEIGHTS[1:], strict=True):
        expect(learner.scaled_attention_weights(query, LARGE_KEYS), weights)
        expect(learner.scaled_dot_product_attention(query, LARGE_KEYS, values), weights @ values)


@task(4, each=FUNCTIONS)
def test_gradients(learner, reference, rng):
    """Gradients reach the queries, keys and values, and they are correct."""
    for name, arguments in (*batches(rng), *one_query(rng)):
        same_gradients(getattr(learner, name), getattr(reference, name), *arguments)


@task(4, each=FUNCTIONS)
def test_dtype_and_device(learner, reference, rng):
    """The results keep the device and the dtype of the inputs."""
    for name, arguments in batches(rng):
        keeps_device(getattr(learner, name), *arguments)
        keeps_dtype(getattr(learner, name), getattr(reference, name), *arguments)
    for name, arguments in one_query(rng):
        keeps_device(getattr(learner, name), *arguments)
        keeps_dtype(getattr(learner, name), getattr(reference, name), *arguments, dtypes=(torch.float64,))


@task(4, each=FUNCTIONS)
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    for name, arguments in (*batches(rng), *one_query(rng)):
        keeps_inputs(getattr(learner, name), *arguments)


@task(4, each=FUNCTIONS)
def test_argument_names(learner, rng):
    """The arguments have the names used in the lesson: query and key, query and keys, and values."""
    query, keys, values = rng.randn(2, 3), rng.randn(4, 3), rng.randn(4, 2)
    learner.attention_score(query=query[0], key=keys[0])
    learner.scaled_attention_weights(query=query, keys=keys)
    learner.scaled_dot_product_attention(query=query, keys=keys, values=values)
    learner.score_variances(query=query, keys=keys)
