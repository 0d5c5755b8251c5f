"""Hidden checks: fresh scores against logsumexp and whole softmax attention, in float64."""

import math

import torch

from grader.authors import Mismatch, expect, expect_shape, keeps_device, keeps_dtype, keeps_inputs, task

FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "online_max_and_sum": "fresh_online",
    "merge_blocks": "fresh_merge",
}
LOG_ROOM = 5e-3  # log(sum) + maximum on the way: at 1e4 a float32 has three digits after the point
FAR, FAR_ROOM = 2_048, 2e-6  # scores of a row, and room for error: right answers in float32 differ by 1e-7
REDUCTIONS = (
    *("max", "amax", "aminmax", "argmax", "kthvalue", "topk"),
    *("sum", "nansum", "mean", "norm", "linalg_vector_norm", "mv", "mm", "bmm", "dot"),
)
RUNNING = ("sort", "cummax", "_cummax_helper", "cumsum")  # these give as many numbers as they take
ONLINE, MERGED = ("the maximum", "the sum"), ("the maximum", "the sum", "the output")


def max_and_sum(scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The truth, in the dtype of the scores."""
    largest = scores.double().amax(dim=-1)
    total = (torch.logsumexp(scores.double(), dim=-1) - largest).exp()
    return largest.to(scores.dtype), total.to(scores.dtype)


def attention(scores: torch.Tensor, values: torch.Tensor):
    """Maximum, sum and output of one block: scores (…, T), values (…, T, h)."""
    output = (torch.softmax(scores.double(), dim=-1)[..., None, :] @ values.double())[..., 0, :]
    return *max_and_sum(scores), output.to(values.dtype)


def expect_parts(got, expected, names, tolerance: float | None = None) -> None:
    """Each part of the answer is right."""
    if not isinstance(got, (tuple, list)) or len(got) != len(names):
        expect(got, expected)  # says what it is instead
    for name, mine, theirs in zip(names, got, expected, strict=True):
        expect(mine, theirs, name, tolerance)


def blocks(rng, *lengths: int, shape=(2, 3), size: int = 4):
    """Blocks of scores and values with these numbers of keys, and the attention to all keys at once."""
    scores, values = 3 * rng.randn(*shape, sum(lengths)), rng.randn(*shape, sum(lengths), size)
    parts = zip(scores.split(lengths, dim=-1), values.split(lengths, dim=-2), strict=True)
    return [attention(*part) for part in parts], attention(scores, values)


# Task 1


@task(1)
def test_fresh_online(learner, rng):
    """online_max_and_sum is right for new scores of any shape, wherever the largest one is."""
    for shape, block_size in (((3, 8), 2), ((9,), 3), ((2, 3, 10), 5), ((4, 4), 1), ((5, 1), 1), ((1, 2, 1, 6), 3)):
        scores = 3 * rng.randn(*shape)
        expect_parts(learner.online_max_and_sum(scores, block_size), max_and_sum(scores), ONLINE)
    rising = torch.stack([torch.arange(6.0), -torch.arange(6.0)])  # each block, and no later block, has a new maximum
    expect_parts(learner.online_max_and_sum(rising, 2), max_and_sum(rising), ONLINE)
    low = rng.strided(3, 6) - 50  # below 0, all of them
    expect_parts(learner.online_max_and_sum(low, 3), max_and_sum(low), ONLINE)


@task(1, after="fresh_online")
def test_any_block_size(learner, rng):
    """The block size changes nothing. It need not divide the number of scores, and may be larger."""
    scores = 3 * rng.rand(3, 7)
    scores[0], scores[1] = scores[0].sort().values, scores[1].sort(descending=True).values
    for block_size in (1, 2, 3, 4, 6, 7, 8, 100):
        expect_parts(learner.online_max_and_sum(scores, block_size), max_and_sum(scores), ONLINE)


@task(1, after="fresh_online")
def test_masked_scores(learner, rng):
    """Scores of −inf add nothing to the sum."""
    scores = 3 * rng.rand(5, 6)
    scores[3], scores[4] = scores[3].sort().values, scores[4].sort(descending=True).values
    scores[0, 1::2], scores[1, 3], scores[2, 5] = -torch.inf, -torch.inf, -torch.inf
    for block_size in (2, 3, 4, 6):
        expect_parts(learner.online_max_and_sum(scores, block_size), max_and_sum(scores), ONLINE)


@task(1, after="fresh_online")
def test_own_softmax(learner, no_ready_made, rng):
    """online_max_and_sum calls no ready-made softmax, log_softmax, logsumexp or attention."""
    scores = rng.rand(2, 7).sort(dim=-1).values
    expect_parts(learner.online_max_and_sum(scores, 3), max_and_sum(scores), ONLINE)
    no_ready_made(learner.online_max_and_sum, scores, 3)
    no_ready_made(learner.online_max_and_sum, scores[0], 2)


@task(1, after="own_softmax")
def test_block_by_block(learner, rng):
    """online_max_and_sum takes each maximum and each sum over at most block_size scores, never over all."""
    scores, block_size = rng.randn(2, 64), 8
    for operation in learner.online_max_and_sum.operations(scores, block_size):
        if not operation.input_shapes or not operation.output_shapes:
            continue
        shape, results = operation.input_shapes[0], math.prod(operation.output_shapes[0])
        looked_at = math.prod(shape)
        takes_all = looked_at >= scores.numel() and looked_at > block_size * results  # blocks side by side are fine
        runs_over_all = max(shape, default=0) >= scores.shape[-1]
        if (operation.name in REDUCTIONS and takes_all) or (operation.name in RUNNING and runs_over_all):
            raise Mismatch(f"torch's {operation.name} is taken over all scores: take it over one block after the other")


# Task 2


@task(2)
def test_fresh_merge(learner, rng):
    """merge_blocks gives the attention to the keys of both blocks, for queries of any shape."""
    for shape, size, lengths in (
        ((2, 3), 4, (5, 2)),
        ((3,), 3, (1, 6)),
        ((), 5, (3, 3)),
        ((2, 1, 4), 1, (4, 1)),
        ((4, 4), 4, (2, 7)),
    ):
        (one, two), whole = blocks(rng, *lengths, shape=shape, size=size)
        expect_parts(learner.merge_blocks(*one, *two), whole, MERGED)
    (one, two), whole = blocks(rng, 2, 3)
    expect_parts(learner.merge_blocks(*two, *one), whole, MERGED)
    one, two = ([part.mT.contiguous().mT for part in block] for block in (one, two))  # not row by row in memory
    expect_parts(learner.merge_blocks(*one, *two), whole, MERGED)


@task(2, after="documented_merge")
def test_any_order(learner, rng):
    """Merge three blocks in any order, and you get the attention to all their keys."""
    three, whole = blocks(rng, 3, 1, 4)
    for first, second, third in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        pair = merged(learner, three[first], three[second])
        expect_parts(merged(learner, pair, three[third]), whole, MERGED)
        expect_parts(merged(learner, three[third], pair), whole, MERGED)


@task(2, after="fresh_merge")
def test_own_merge(learner, no_ready_made, rng):
    """merge_blocks calls no ready-made softmax, log_softmax, logsumexp or attention."""
    (one, two), whole = blocks(rng, 3, 4)
    for parts in ((*one, *two), (*two, *one)):
        expect_parts(learner.merge_blocks(*parts), whole, MERGED)
        no_ready_made(learner.merge_blocks, *parts)


def merged(learner, one, two):
    """What merge_blocks gives, of the right shapes."""
    got = learner.merge_blocks(*one, *two)
    if not isinstance(got, (tuple, list)) or len(got) != 3:
        expect(got, (*one,))  # says what it is instead
    for name, mine, theirs in zip(MERGED, got, one, strict=True):
        expect_shape(mine, theirs.shape, name)
    return got


# Both tasks


@task(2, each=FUNCTIONS)
def test_large_scores(learner):
    """Very large scores (±10,000) give no NaN and no infinity, in one block or in two."""
    scores = torch.tensor([[1e4, 0.0, -1e4, 1e4], [-1e4, -1e4, 1e4, 9000.0], [-1e4, -1e4, -1e4, -1e4]])
    expected = torch.tensor([1e4, 1e4, -1e4]), torch.tensor([2.0, 1.0, 4.0])
    for block_size in (1, 2, 4):
        expect_parts(learner.online_max_and_sum(scores, block_size), expected, ONLINE, LOG_ROOM)
    one = torch.tensor([1e4, -1e4, -1e4]), torch.tensor([1.0, 2.0, 2.0]), torch.tensor([[1.0], [2.0], [3.0]])
    two = torch.tensor([1e4, 1e4, -1e4]), torch.tensor([1.0, 1.0, 2.0]), torch.tensor([[3.0], [4.0], [5.0]])
    whole = *expected, torch.tensor([[2.0], [4.0], [4.0]])
    expect_parts(learner.merge_blocks(*one, *two), whole, MERGED, LOG_ROOM)
    expect_parts(learner.merge_blocks(*two, *one), whole, MERGED, LOG_ROOM)


@task(2, each=FUNCTIONS)
def test_far_scores(learner):
    """Many scores far below the maximum add nothing to the sum and to the output.

    One exp(−20) is rounding, but a long text has many of them. A lower bound on the exponents is accepted from −21
    downwards, where 2,048 keys together are less than FAR_ROOM.
    """
    far = torch.full((3, FAR), -50.0)
    far[0, 0] = far[1, -1] = far[2, FAR // 2] = 0.0  # the maximum comes first, last, and in between
    expected = torch.zeros(3), torch.ones(3)
    expect_parts(learner.online_max_and_sum(far, FAR // 4), expected, ONLINE, FAR_ROOM)
    one = torch.full((2,), -50.0), torch.full((2,), 65_536.0), torch.ones(2, 1)
    two = torch.zeros(2), torch.ones(2), torch.zeros(2, 1)
    expect_parts(learner.merge_blocks(*one, *two), two, MERGED, FAR_ROOM)
    expect_parts(learner.merge_blocks(*two, *one), two, MERGED, FAR_ROOM)


# A maximum may be detached or not: maximum + log(sum) has the same gradient, for what the maximum lacks the sum has
# instead. So there are two right gradients for the largest score, and one for all others.


@task(2, each=FUNCTIONS)
def test_gradients(learner, reference, rng):
    """Gradients flow back to every input and are correct. You may detach the maximum."""
    scores = 2 * rng.randn(2, 3, 5)
    truth = reference.online_max_and_sum.gradients(scores, 2)["argument 0"]
    got = gradient(learner.online_max_and_sum.gradients(scores, 2), "argument 0", truth)
    shares, order = torch.softmax(scores, dim=-1), scores.argsort(dim=-1, descending=True)
    largest, next_one = order[..., :1], order[..., 1:2]
    factor = truth.gather(-1, next_one) / shares.gather(-1, next_one)  # of the sum's gradient
    detached = truth.scatter(-1, largest, factor * shares.gather(-1, largest))
    expect(got, either(got, detached, truth), "the gradient of scores", 2e-4 * scale(truth))

    (one, two), _ = blocks(rng, 3, 4)
    truths = reference.merge_blocks.gradients(*one, *two)
    answer = learner.merge_blocks.gradients(*one, *two)
    for index in range(6):
        truth = truths[f"argument {index}"]
        got = gradient(answer, f"argument {index}", truth)
        if index in (0, 3):  # a maximum: without it as it stands, its part of the sum alone is left
            detached = part_of_sum(truths, index, one, two)
            truth = either(got, detached, truth)
        expect(got, truth, f"the gradient of argument {index}", 2e-4 * scale(truth))


def gradient(gradients, name: str, truth: torch.Tensor) -> torch.Tensor:
    """One of the gradients that came back."""
    if not isinstance(gradients, dict) or name not in gradients:
        raise Mismatch(f"no gradient reaches {name}")
    expect_shape(gradients[name], truth.shape, f"the gradient of {name}")
    return gradients[name]


def either(got, one, other) -> torch.Tensor:
    """Of two right answers the one that is nearer, number by number."""
    return torch.where((got - one).abs() < (got - other).abs(), one, other)


def part_of_sum(truths, index: int, one, two) -> torch.Tensor:
    """The gradient of a maximum where the merged maximum is detached: sum · the gradient of the sum."""
    total = one[1] if index == 0 else two[1]
    return total * truths[f"argument {index + 1}"]


def scale(truth: torch.Tensor) -> float:
    return max(1.0, float(truth.abs().max()))


@task(2, each=FUNCTIONS)
def test_dtype_and_device(learner, reference, rng):
    """Works in other dtypes and on other devices: results keep the dtype and the device of the inputs."""
    scores, (one, two) = rng.randn(2, 5), blocks(rng, 3, 4)[0]
    keeps_dtype(learner.online_max_and_sum, reference.online_max_and_sum, scores, 2)
    keeps_dtype(learner.merge_blocks, reference.merge_blocks, *one, *two)
    keeps_device(learner.online_max_and_sum, scores, 2)
    keeps_device(learner.merge_blocks, *one, *two)


@task(2, each=FUNCTIONS)
def test_inputs_unchanged(learner, rng):
    """Calling a function twice gives the same result, and nothing you pass in is modified."""
    for block_size in (2, 5):  # several blocks, and one
        keeps_inputs(learner.online_max_and_sum, rng.randn(2, 5), block_size)
    one, two = blocks(rng, 3, 4)[0]
    keeps_inputs(learner.merge_blocks, *one, *two)


@task(2, each=FUNCTIONS)
def test_argument_names(learner, rng):
    """The arguments have the names used in the lesson, in both functions."""
    learner.online_max_and_sum(scores=rng.randn(2, 7), block_size=3)
    (one, two), _ = blocks(rng, 2, 3)
    names = ("max_a", "sum_a", "out_a", "max_b", "sum_b", "out_b")
    learner.merge_blocks(**dict(zip(names, (*one, *two), strict=True)))
