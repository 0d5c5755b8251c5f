"""Hidden checks: fresh inputs against torch's attention and autograd in float64; many tokens in little memory."""

import torch

from grader.authors import (
    Mismatch,
    expect,
    expect_shape,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    same_gradients,
    task,
)

FORWARD = ("fresh_forward", "any_block_size", "causal")
BACKWARD = ("fresh_backward", "causal_backward")
FUNCTIONS = {"flash_attention": FORWARD, "flash_attention_backward": BACKWARD}
# (B, H, T, h, block_size). The telling one first: with blocks of two, many mistakes of the mask are alike.
SIZES = ((1, 2, 7, 5, 3), (2, 3, 8, 4, 2), (3, 1, 6, 2, 4), (2, 2, 5, 3, 64), (1, 1, 1, 1, 1), (1, 4, 9, 4, 9))
WHOLE = (  # the same where each block is whole
    (2, 3, 8, 4, 2),
    (1, 2, 9, 5, 3),
    (3, 1, 8, 2, 4),
    (2, 2, 5, 3, 5),
    (1, 1, 1, 1, 1),
    (1, 4, 9, 4, 9),
)  # no rest
BLOCKS = (1, 2, 3, 4, 6, 7, 8, 100)  # for seven tokens
GRADIENTS = ("the gradient of queries", "the gradient of keys", "the gradient of values")
LOG_ROOM = 2e-2  # sums may be kept as logarithms: at 1e4 a float32 has three digits after the point
SIZE, BLOCK = 32, 256
MANY, ALLOWED = 16_384, 512  # tokens, and MiB: half of what one table of tokens × tokens float32 takes
# A head of one number has as large a table, and gradients in a third of the time that a head of SIZE numbers takes.
NARROW = 1
MANY_ROOM = 5e-4  # right answers in float32 differ by up to 6e-5 where so many terms cancel
KINDS = 32  # of keys and values, where each token has a copy of one of them
LOOKED_AT = 24  # queries of the many whose result is compared


def attention(query, keys, values, causal: bool = False) -> torch.Tensor:
    """The truth, in the dtype of the inputs."""
    return torch.nn.functional.scaled_dot_product_attention(query, keys, values, is_causal=causal)


def exact(query, keys, values, causal: bool = False) -> torch.Tensor:
    """The same in float64."""
    return attention(query.double(), keys.double(), values.double(), causal).to(query.dtype)


def three(rng, *shape: int) -> list[torch.Tensor]:
    """Queries and keys whose scores differ clearly, and values."""
    return [2 * rng.randn(*shape), rng.randn(*shape), rng.randn(*shape)]


def in_blocks(query, keys, values, block_size: int, causal: bool) -> torch.Tensor:
    """The truth, called as flash_attention is."""
    return attention(query, keys, values, causal)


def backward_of(inputs, grad_output, causal: bool = False):
    """What flash_attention_backward is given, and the gradients that it must give: by autograd, in float64."""
    leaves = [tensor.double().requires_grad_() for tensor in inputs]
    output = attention(*leaves, causal)
    gradients = torch.autograd.grad(output, leaves, grad_output.double())
    scores = leaves[0] @ leaves[1].mT / inputs[0].shape[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)
    facts = (output, torch.logsumexp(scores, dim=-1), grad_output)
    given = [*inputs, *(fact.detach().to(grad_output.dtype) for fact in facts)]
    return given, tuple(gradient.to(grad_output.dtype) for gradient in gradients)


def expect_gradients(got, expected, room: float = 2e-5) -> None:
    """All three gradients are right. room: for error, as a part of the largest number, or of 1."""
    if not isinstance(got, (tuple, list)) or len(got) != 3:
        expect(got, expected)  # says what it is instead
    for name, mine, theirs in zip(GRADIENTS, got, expected, strict=True):
        expect(mine, theirs, name, room * max(1.0, float(theirs.abs().max())))


# Task 1


@task(1)
def test_fresh_forward(learner, rng):
    """flash_attention gives the same as attention over all tokens at once, for inputs of any shape."""
    for *shape, block_size in WHOLE:
        inputs = three(rng, *shape)
        expect(learner.flash_attention(*inputs, block_size), exact(*inputs))
    query, keys, values = (rng.strided(2, 2, 6, 3) for _ in range(3))
    query[:, :, 3], keys[:, :, 1] = 0.0, 0.0  # tokens like others
    got = learner.flash_attention(query, keys, values, 2, False)
    expect(got, exact(query, keys, values))
    many = three(rng, 1, 1, 192, 2)  # more than the default block size
    expect(learner.flash_attention(*many), exact(*many))


@task(1, after="fresh_forward")
def test_any_block_size(learner, rng):
    """The block size changes nothing. It need not divide the number of tokens, and may be larger."""
    inputs = three(rng, 1, 2, 7, 3)
    inputs[0][:, 0] = inputs[0][:, 0].abs()
    inputs[1][:, 0] = inputs[1][:, 0].abs().sort(dim=-2).values  # in the first head each block has a new maximum
    for block_size in BLOCKS:
        expect(learner.flash_attention(*inputs, block_size), exact(*inputs))


@task(1, after=FORWARD[:2])
def test_causal(learner, rng):
    """With causal=True a token attends only to itself and to earlier tokens, whatever the block size is."""
    for *shape, block_size in SIZES:
        inputs = three(rng, *shape)
        expect(learner.flash_attention(*inputs, block_size, True), exact(*inputs, True))
    inputs = three(rng, 1, 1, 7, 2)
    for block_size in BLOCKS:
        expect(learner.flash_attention(*inputs, block_size, True), exact(*inputs, True))


@task(1, after=FORWARD)
def test_own_attention(learner, no_ready_made, rng):
    """flash_attention calls no ready-made attention."""
    inputs = three(rng, 1, 2, 7, 4)
    for causal in (False, True):
        expect(learner.flash_attention(*inputs, 3, causal), exact(*inputs, causal))
        no_ready_made(learner.flash_attention, *inputs, 3, causal)


@task(1)
def test_large_scores(learner):
    """Very large scores (±10,000) give no NaN and no infinity, in one block or in several."""
    query = torch.full((1, 1, 4, 2), 100 * 2**0.5)
    keys = torch.tensor([[-100.0, 0.0], [100.0, 0.0], [-100.0, 0.0], [100.0, 0.0]])[None, None]
    query[..., 3, :] *= -1
    values = torch.tensor([[1.0, 2.0], [2.0, 4.0], [4.0, 8.0], [8.0, 16.0]])[None, None]
    expected = torch.tensor([5.0, 5.0, 5.0, 2.5])[:, None] * torch.tensor([1.0, 2.0])
    past = torch.tensor([1.0, 2.0, 2.0, 2.5])[:, None] * torch.tensor([1.0, 2.0])
    for block_size in (1, 2, 4):
        got = learner.flash_attention(query, keys, values, block_size)
        expect(got, expected[None, None], tolerance=LOG_ROOM)
        got = learner.flash_attention(query, keys, values, block_size, True)
        expect(got, past[None, None], tolerance=LOG_ROOM)


# Task 2


@task(2)
def test_fresh_backward(learner, rng):
    """flash_attention_backward gives the gradients of attention, for inputs of any shape and any block size."""
    for *shape, block_size in SIZES:
        given, expected = backward_of(three(rng, *shape), rng.randn(*shape))
        expect_gradients(learner.flash_attention_backward(*given, block_size), expected)
    given, expected = backward_of([rng.strided(2, 2, 5, 3) for _ in range(3)], rng.strided(2, 2, 5, 3))
    expect_gradients(learner.flash_attention_backward(*given, 2, False), expected)
    given, expected = backward_of(three(rng, 1, 1, 150, 2), rng.randn(1, 1, 150, 2))
    expect_gradients(learner.flash_attention_backward(*given), expected)


@task(2, after="fresh_backward")
def test_causal_backward(learner, rng):
    """With causal=True, flash_attention_backward gives the gradients of causal attention."""
    for *shape, block_size in SIZES:
        given, expected = backward_of(three(rng, *shape), rng.randn(*shape), causal=True)
        expect_gradients(learner.flash_attention_backward(*given, block_size, True), expected)


@task(2, after=BACKWARD)
def test_own_backward(learner, no_ready_made, rng):
    """flash_attention_backward calls no ready-made attention."""
    for causal in (False, True):
        given, expected = backward_of(three(rng, 1, 2, 7, 4), rng.randn(1, 2, 7, 4), causal)
        expect_gradients(learner.flash_attention_backward(*given, 3, causal), expected)
        no_ready_made(learner.flash_attention_backward, *given, 3, causal)


# Task 3


@task(3, after=FORWARD)
def test_gradients(learner, rng):
    """The gradients that autograd finds for flash_attention are correct, causal or not."""
    for *shape, block_size in SIZES[:4]:
        for causal in (False, True):
            same_gradients(learner.flash_attention, in_blocks, *three(rng, *shape), block_size, causal)


@task(3, each=FUNCTIONS)
def test_far_scores(learner):
    """Keys far below the maximum weigh nothing, however large their values are.

    Values of a million show what a weight of exp(−20) takes part in. A lower bound on the exponents is accepted from
    about −29 downwards, where it is no more than the tolerance.
    """
    keys = torch.full((1, 1, 64, 1), -50.0)
    keys[..., :2, :] = keys[..., 40, :] = 0.0
    values = torch.where(keys < 0, 1e6, 1.0)
    inputs = torch.ones(1, 1, 64, 1), keys, values
    expect(learner.flash_attention(*inputs, 16), torch.ones(1, 1, 64, 1))
    expect(learner.flash_attention(*inputs, 16, True), torch.ones(1, 1, 64, 1))
    given, expected = backward_of(inputs, torch.ones(1, 1, 64, 1))
    expect_gradients(learner.flash_attention_backward(*given, 16), expected)
    keys = torch.full((1, 1, 64, 1), -50.0)
    keys[..., -2:, :] = 0.0  # the maximum rises in the last block: what was summed before has to go to 0
    inputs = torch.ones(1, 1, 64, 1), keys, torch.where(keys < 0, 1e6, 1.0)
    expect(learner.flash_attention(*inputs, 16), torch.ones(1, 1, 64, 1))


@task(3, each=FUNCTIONS)
def test_dtype_and_device(learner, reference, rng):
    """Works in other dtypes and on other devices: results keep the dtype and the device of the inputs."""
    inputs = three(rng, 1, 2, 6, 4)
    keeps_dtype(learner.flash_attention, reference.flash_attention, *inputs, 4)
    keeps_device(learner.flash_attention, *inputs, 4, True)
    given, _ = backward_of(three(rng, 1, 2, 6, 4), rng.randn(1, 2, 6, 4), causal=True)
    keeps_dtype(learner.flash_attention_backward, reference.flash_attention_backward, *given, 4, True)
    keeps_device(learner.flash_attention_backward, *given, 4, True)


@task(3, each=FUNCTIONS)
def test_inputs_unchanged(learner, rng):
    """Calling a function twice gives the same result, and nothing you pass in is modified."""
    given, _ = backward_of(three(rng, 1, 2, 6, 4), rng.randn(1, 2, 6, 4))
    for block_size in (4, 6, 8):  # several blocks, one, and one that is not full
        keeps_inputs(learner.flash_attention, *three(rng, 1, 2, 6, 4), block_size)
        keeps_inputs(learner.flash_attention_backward, *given, block_size)


@task(3, each=FUNCTIONS)
def test_argument_names(learner, rng):
    """The arguments have the names used in the lesson, forward and backward."""
    given, _ = backward_of(three(rng, 1, 2, 6, 4), rng.randn(1, 2, 6, 4))
    names = ("query", "keys", "values", "output", "logsumexp", "grad_output")
    learner.flash_attention(**dict(zip(names[:3], given)), block_size=4, causal=False)
    learner.flash_attention_backward(**dict(zip(names, given, strict=True)), block_size=4, causal=False)


# Memory


@task(1, after=("own_attention", *FORWARD))
def test_memory_forward(learner, no_ready_made, rng, within_memory):
    """flash_attention takes less than 512 MiB for 16,384 tokens in blocks of 256, and its result is right."""
    inputs = three(rng, 1, 1, MANY, SIZE)
    got = within_memory(learner.flash_attention, *inputs, BLOCK, True, mebibytes=ALLOWED)
    expect_shape(got, (1, 1, MANY, SIZE))
    for place in (0, BLOCK, MANY - 1, *(rng.integer(0, MANY) for _ in range(LOOKED_AT))):
        query, (keys, values) = inputs[0][..., place : place + 1, :], (one[..., : place + 1, :] for one in inputs[1:])
        expect(got[..., place, :], exact(query, keys, values)[..., 0, :], "the result for one of the tokens")
    no_ready_made(learner.flash_attention, *three(rng, 1, 1, 5, 4), 2)  # nor was any called above


@task(2, after=("own_backward", *BACKWARD))
def test_memory_backward(learner, no_ready_made, rng, within_memory):
    """flash_attention_backward takes less than 512 MiB for 16,384 tokens in blocks of 256, and is right."""
    given, expected = many_causal(rng, rng.randn(1, 1, MANY, NARROW))
    got = within_memory(learner.flash_attention_backward, *given, BLOCK, True, mebibytes=ALLOWED)
    expect_many(got, expected)
    no_ready_made(learner.flash_attention_backward, *backward_of(three(rng, 1, 1, 5, 4), rng.randn(1, 1, 5, 4))[0], 2)


@task(3, after=("own_attention", "own_backward", "gradients"))
def test_memory_gradients(learner, no_ready_made, rng, within_memory):
    """flash_attention and autograd's backward pass take less than 512 MiB for 16,384 tokens, and are right."""
    seed = learner.flash_attention.cotangent_seed
    given, expected = many_causal(rng, torch.randn(1, 1, MANY, NARROW, generator=torch.Generator().manual_seed(seed)))
    got = within_memory(learner.flash_attention, *given[:3], BLOCK, True, gradients=True, mebibytes=ALLOWED)
    wanted = [f"argument {index}" for index in (0, 1, 2)]
    if not isinstance(got, dict) or set(got) != set(wanted):
        raise Mismatch("the gradients of queries, keys and values are not all there")
    expect_many([got[name] for name in wanted], expected)
    no_ready_made(learner.flash_attention, *three(rng, 1, 1, 5, 4), 2)


def expect_many(got, expected) -> None:
    """The gradients of many tokens are right. Those after the first block are smaller, and so is the room for error."""
    expect_gradients(got, expected, MANY_ROOM)
    later = [[gradient[..., BLOCK:, :] for gradient in gradients] for gradients in (got, expected)]
    expect_gradients(*later, MANY_ROOM)


def many_causal(rng, grad_output: torch.Tensor):
    """As `backward_of`, causal, for MANY tokens, in float64 and without a table of tokens × tokens.

    The keys and values are copies of a few, so that the table has one column for each kind. Up to a token, a kind
    counts as often as it has come.
    """
    query, key_kinds, value_kinds = (2 * rng.randn(MANY, NARROW), *(rng.randn(KINDS, NARROW) for _ in range(2)))
    kind_of = rng.integers(0, KINDS, MANY)
    q, k, v, g = (one.double() for one in (query, key_kinds, value_kinds, grad_output[0, 0]))
    counts = torch.nn.functional.one_hot(kind_of, KINDS).cumsum(dim=0).double()  # (MANY, KINDS)
    scores = q @ k.T / NARROW**0.5
    logsumexp = torch.logsumexp(scores + counts.log(), dim=-1)
    weights = torch.exp(scores - logsumexp[:, None])  # of one copy
    output = (counts * weights) @ v
    grad_scores = weights * (g @ v.T - (g * output).sum(dim=-1, keepdim=True)) / NARROW**0.5
    gradients = (
        (counts * grad_scores) @ k,
        of_those_after(grad_scores, q)[torch.arange(MANY), kind_of],
        of_those_after(weights, g)[torch.arange(MANY), kind_of],
    )
    given = (query, key_kinds[kind_of], value_kinds[kind_of], output.float(), logsumexp.float())
    return [*(one[None, None] for one in given), grad_output], tuple(one.float()[None, None] for one in gradients)


def of_those_after(table: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """For each token and kind the sum of table × rows over this token and those after it: (MANY, KINDS, NARROW)."""
    return (table[..., None] * rows[:, None]).flip(0).cumsum(dim=0).flip(0)
