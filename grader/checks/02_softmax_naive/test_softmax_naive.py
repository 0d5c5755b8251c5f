"""Hidden checks: fresh scores against the solution, and what must hold for any scores."""

import torch

from grader.authors import agrees, expect, keeps_device, keeps_dtype, keeps_inputs, same_gradients, task

FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "normalize_by_sum": "fresh_normalize_by_sum",
    "softmax_naive": "fresh_softmax_naive",
    "softmax_stable": "fresh_softmax_stable",
}

# The telling ones first: a check ends at its first failure, and of a single weight, 1, many mistakes are alike.
SHAPES = ((3, 5), (5,), (3, 2, 4), (4, 4), (2, 3, 1, 4), (4, 1), (1, 4), (1,))
LOG_ROOM = 2e-3  # exp(x − log Σ exp) at 1e4: a float32 has three digits after the point there


@task(1)
def test_fresh_normalize_by_sum(learner, reference, rng):
    """normalize_by_sum is right on new scores, negative ones among them."""
    for tokens in (7, 2, 1):
        agrees(learner.normalize_by_sum, reference.normalize_by_sum, rng.rand(tokens) + 0.1)
    mixed = torch.cat([rng.rand(3) + 1, -rng.rand(2)])[rng.permutation(5)]  # the sum is above 1
    agrees(learner.normalize_by_sum, reference.normalize_by_sum, mixed)
    agrees(learner.normalize_by_sum, reference.normalize_by_sum, -1 - rng.rand(4))
    agrees(learner.normalize_by_sum, reference.normalize_by_sum, rng.rand(5, 3)[:, 1] + 0.1)
    agrees(learner.normalize_by_sum, reference.normalize_by_sum, (rng.rand(4) + 0.1) * 1e-20)


@task(2)
def test_fresh_softmax_naive(learner, reference, rng):
    """softmax_naive is right along dim 0 for new scores of any shape."""
    for shape in SHAPES:
        agrees(learner.softmax_naive, reference.softmax_naive, rng.randn(*shape))
    agrees(learner.softmax_naive, reference.softmax_naive, rng.strided(5, 4))
    agrees(learner.softmax_naive, reference.softmax_naive, rng.randn(4) - 60)  # exponentials below any epsilon


@task(2, after="fresh_softmax_naive")
def test_naive_overflows(learner):
    """softmax_naive is exp over the sum of exp and nothing else: a score of 1000 gives NaN."""
    expect(learner.softmax_naive(torch.tensor([1000.0, 900.0])), torch.full((2,), torch.nan))
    expect(learner.softmax_naive(torch.tensor([1000.0, 1.0])), torch.tensor([torch.nan, 0.0]))
    columns = torch.tensor([[2.0, 1000.0, 1.0], [2.0, 1.0, 1000.0]])
    expected = torch.tensor([[0.5, torch.nan, 0.0], [0.5, 0.0, torch.nan]])
    expect(learner.softmax_naive(columns), expected)


@task(3)
def test_fresh_softmax_stable(learner, reference, rng):
    """softmax_stable is right for new scores of any shape, along any dim."""
    for shape in SHAPES[:3]:
        agrees(learner.softmax_stable, reference.softmax_stable, rng.randn(*shape))
    for dim in (0, 1, 2, -2, -3):
        agrees(learner.softmax_stable, reference.softmax_stable, 5 * rng.randn(3, 4, 5), dim)
    for shape in SHAPES:
        dim = rng.integer(-len(shape), len(shape))
        agrees(learner.softmax_stable, reference.softmax_stable, rng.randn(*shape), dim)
    agrees(learner.softmax_stable, reference.softmax_stable, rng.strided(5, 4), 1)


@task(3, after="fresh_softmax_stable")
def test_large_scores(learner, reference, rng):
    """softmax_stable is right for scores from −10,000 to 10,000, each row or column with its own maximum."""
    agrees(learner.softmax_stable, reference.softmax_stable, torch.tensor([100.0, 101.0, 98.0]))
    scores = torch.tensor(
        [[1e4, 0.0, -1e4], [-1e4, -9000.0, -9900.0], [-9999.0, -9000.0, -8000.0], [900.0, 0.0, -50.0]]
    )
    winners = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    expect(learner.softmax_stable(scores), winners)
    expect(learner.softmax_stable(scores.T, 0), winners.T)
    close = torch.tensor([0.0, 1.0, 2.0])[rng.permutation(3)]
    shifts = torch.tensor([1e4, -1e4, 0.0, -100.0, 100.0])[rng.permutation(5)]
    rows = shifts[:, None] + close  # rows that differ by their shift alone have the same softmax
    expected = reference.softmax_stable(close).expand(5, 3).clone()
    expect(learner.softmax_stable(rows, 1), expected, tolerance=LOG_ROOM)
    thousands = 1000 * rng.integers(-10, 11, 4, 3, 5, dtype=torch.float32)
    agrees(learner.softmax_stable, reference.softmax_stable, thousands, 1, tolerance=LOG_ROOM)
    expect(learner.softmax_stable(torch.tensor([1000.0, 1.0])), torch.tensor([1.0, 0.0]))
    # A bound on the exponents at −20 or above gives a far score more than 1e-9, and a long text has many of them.
    expect(learner.softmax_stable(torch.tensor([0.0, -50.0])), torch.tensor([1.0, 0.0]), tolerance=1e-9)


@task(3, after="fresh_softmax_stable")
def test_masked_scores(learner, reference, rng):
    """softmax_stable gives the weight 0 to −inf, and shares 1 among the finite scores."""
    masked = rng.rand(5, 5) < 0.5
    masked[0], masked[:, 0] = True, True  # −inf stands first in the others
    masked.fill_diagonal_(False)  # one finite number in each row and column
    scores = rng.randn(5, 5).masked_fill(masked, -torch.inf)
    agrees(learner.softmax_stable, reference.softmax_stable, scores)
    agrees(learner.softmax_stable, reference.softmax_stable, scores, 0)
    stacked = torch.stack([scores, scores.T.flip(0)])
    agrees(learner.softmax_stable, reference.softmax_stable, stacked, -2)
    hole = -torch.inf
    large = torch.tensor([[hole, -1e4, -9000.0], [9000.0, hole, -1e4], [hole, 1e4, hole], [hole, hole, -1e4]])
    expected = torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    expect(learner.softmax_stable(large), expected)


@task(3, each=FUNCTIONS)
def test_own_softmax(learner, reference, no_ready_made, rng):
    """None of the three calls a ready-made softmax, log_softmax, logsumexp or softmin."""
    vector, matrix = rng.rand(5), rng.randn(3, 5)
    for name, arguments in (
        ("normalize_by_sum", (vector,)),
        ("softmax_naive", (vector,)),
        ("softmax_naive", (matrix,)),
        ("softmax_stable", (vector,)),
        ("softmax_stable", (matrix, 0)),
        ("softmax_stable", (matrix, -1)),
    ):
        agrees(getattr(learner, name), getattr(reference, name), *arguments)
        no_ready_made(getattr(learner, name), *arguments)


@task(3, each=FUNCTIONS)
def test_gradients(learner, reference, rng):
    """Gradients reach the scores, and they are correct."""
    same_gradients(learner.normalize_by_sum, reference.normalize_by_sum, rng.rand(5) + 0.5)
    same_gradients(learner.softmax_naive, reference.softmax_naive, rng.randn(4, 3))
    same_gradients(learner.softmax_stable, reference.softmax_stable, rng.randn(3, 4, 2), 1)
    masked = rng.randn(4, 4).masked_fill(torch.ones(4, 4).triu(1).bool(), -torch.inf)
    same_gradients(learner.softmax_stable, reference.softmax_stable, masked)


@task(3, each=FUNCTIONS)
def test_dtype_and_device(learner, reference, rng):
    """The result keeps the dtype and the device of the scores."""
    vector, matrix = rng.rand(5) + 0.5, rng.rand(3, 4)
    for name, arguments in (
        ("normalize_by_sum", (vector,)),
        ("softmax_naive", (matrix,)),
        ("softmax_stable", (matrix, 1)),
    ):
        mine, theirs = getattr(learner, name), getattr(reference, name)
        keeps_dtype(mine, theirs, *arguments)
        keeps_device(mine, *arguments)


@task(3, each=FUNCTIONS)
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    keeps_inputs(learner.normalize_by_sum, rng.rand(5) + 0.5)
    keeps_inputs(learner.softmax_naive, rng.randn(4, 3))
    keeps_inputs(learner.softmax_stable, rng.randn(4, 3), 0)


@task(3, each=FUNCTIONS)
def test_argument_names(learner, rng):
    """The arguments have the names used in the lesson: scores; x; x and dim."""
    learner.normalize_by_sum(scores=rng.rand(4))
    learner.softmax_naive(x=rng.randn(4))
    learner.softmax_stable(x=rng.randn(4, 3), dim=0)
