"""Hidden checks: fresh inputs against the solution, and what must hold for any input."""

from grader.authors import agrees, keeps_device, keeps_dtype, keeps_inputs, same_gradients, task

FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "dot_product": "fresh_dot_product",
    "attention_scores_for_query": "fresh_scores_for_query",
    "attention_scores": "fresh_attention_scores",
}

# The telling ones first: a check ends at its first failure, and of one number many mistakes are alike.
SHAPES = ((5, 2), (2, 3), (7, 16), (6, 3), (3, 3), (4, 1), (1, 4), (1, 1))  # (T, d)
LENGTHS = (8, 5, 17, 3, 2, 1)  # of the vectors


@task(1)
def test_fresh_dot_product(learner, reference, rng):
    """dot_product is right for new vectors of other lengths, and gives a tensor of shape ()."""
    for length in LENGTHS:
        agrees(learner.dot_product, reference.dot_product, rng.randn(length), rng.randn(length))
    agrees(learner.dot_product, reference.dot_product, rng.randn(6, 4)[:, 1], rng.randn(6))  # not contiguous


@task(2)
def test_fresh_scores_for_query(learner, reference, rng):
    """attention_scores_for_query is right for new tokens, and for a query that is none of them."""
    mine, theirs = learner.attention_scores_for_query, reference.attention_scores_for_query
    for tokens, size in SHAPES:
        inputs = rng.randn(tokens, size)
        agrees(mine, theirs, inputs, rng.randn(size))
    inputs = rng.randn(4, 3)
    agrees(mine, theirs, inputs, inputs[rng.integer(0, len(inputs))])
    agrees(mine, theirs, rng.strided(5, 4), rng.randn(4, 3)[:, 0])


@task(3)
def test_fresh_attention_scores(learner, reference, rng):
    """attention_scores is right for new tokens of other numbers and sizes."""
    for shape in SHAPES:
        agrees(learner.attention_scores, reference.attention_scores, rng.randn(*shape))
    agrees(learner.attention_scores, reference.attention_scores, rng.strided(5, 4))


@task(1, after="fresh_dot_product")
def test_own_sum_of_products(learner, reference, no_ready_made, rng):
    """dot_product is your own sum of products: it calls no ready-made one."""
    for length in (3, 8, 1):
        a, b = rng.randn(length), rng.randn(length)
        agrees(learner.dot_product, reference.dot_product, a, b)
        no_ready_made(learner.dot_product, a, b)


@task(3, each=FUNCTIONS)
def test_gradients(learner, reference, rng):
    """Gradients reach every input, and they are correct."""
    inputs = rng.randn(4, 3)
    same_gradients(learner.dot_product, reference.dot_product, rng.randn(5), rng.randn(5))
    same_gradients(learner.attention_scores_for_query, reference.attention_scores_for_query, inputs, rng.randn(3))
    same_gradients(learner.attention_scores, reference.attention_scores, inputs)


@task(3, each=FUNCTIONS)
def test_dtype_and_device(learner, reference, rng):
    """The result keeps the dtype and the device of the inputs."""
    inputs, query = rng.rand(4, 3), rng.rand(3)  # small numbers: half types hold their sums
    for name, arguments in (
        ("dot_product", (inputs[0], query)),
        ("attention_scores_for_query", (inputs, query)),
        ("attention_scores", (inputs,)),
    ):
        mine, theirs = getattr(learner, name), getattr(reference, name)
        keeps_dtype(mine, theirs, *arguments)
        keeps_device(mine, *arguments)


@task(3, each=FUNCTIONS)
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    inputs, query = rng.randn(4, 3), rng.randn(3)
    keeps_inputs(learner.dot_product, inputs[0], query)
    keeps_inputs(learner.attention_scores_for_query, inputs, query)
    keeps_inputs(learner.attention_scores, inputs)


@task(3, each=FUNCTIONS)
def test_argument_names(learner, rng):
    """The arguments have the names used in the lesson: a and b; inputs and query; inputs."""
    learner.dot_product(a=rng.randn(3), b=rng.randn(3))
    learner.attention_scores_for_query(inputs=rng.randn(4, 3), query=rng.randn(3))
    learner.attention_scores(inputs=rng.randn(4, 3))
