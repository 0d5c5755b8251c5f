"""Hidden checks: fresh inputs against torch's attention and autograd in float64; many tokens in little memory."""

import torch

from grader.authors import Mismatch, expect, keeps_device, keeps_dtype, keeps_inputs, same_gradients, task

FORWARD = ("fresh_forward", "any_block_size", "causal")
BACKWARD = ("fresh_backward", "causal_backward")
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
# The allowed MiB are half of what one table of tokens × tokens float32 takes; for the gradients all of it, since there
# more is kept for each token. Half the tokens take a quarter of the time.
MANY, ALLOWED = 16_384, 512
FEWER, ALLOWED_FEWER = 8_192, 256
KINDS = 64  # of tokens, where each is a copy of one of them
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


def expect_gradients(got, expected) -> None:
    """All three gradients are right."""
    if not isinstance(got, (tuple, list)) or len(got) != 3:
        expect(got, expected)  # says what it is instead
    for name, mine, theirs in zip(GRADIENTS, got, expected, strict=True):
        expect(mine, theirs, name, 2e-5 * max(1.0, float(theirs.abs().max())))


# Task 1


@task(1)
def test_fresh_forward(learner, rng):
    """flash_attention gives what attention over all tokens gives, for inputs of any shape."""
    for *shape, block_size in WHOLE:
        inputs = three(rng, *shape)
        expect(learner.flash_attention(*inputs, block_size), exact(*inputs))
    query, keys, values = (rng.strided(2, 2, 6, 3) for _ in range(3))
    got = learner.flash_attention(query, keys, values, 2, False)
    expect(got, exact(query, keys, values))
    many = three(rng, 1, 1, 192, 2)  # more than the default block size
    expect(learner.flash_attention(*many), exact(*many))


@task(1, after="fresh_forward")
def test_any_block_size(learner, rng):
    """The block size changes nothing: it need not divide the number of tokens and may exceed it."""
    inputs = three(rng, 1, 2, 7, 3)
    inputs[0][:, 0] = inputs[0][:, 0].abs()
    inputs[1][:, 0] = inputs[1][:, 0].abs().sort(dim=-2).values  # in the first head each block has a new maximum
    for block_size in BLOCKS:
        expect(learner.flash_attention(*inputs, block_size), exact(*inputs))


@task(1, after=FORWARD[:2])
def test_causal(learner, rng):
    """With causal=True a token attends to itself and to those before it alone, whatever the block size is."""
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
    """Scores of ±10,000 give no NaN and no infinity, in one block or in several."""
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
    """With causal=True its gradients are those of causal attention."""
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
    """Autograd gives the true gradients of flash_attention, causal or not."""
    for *shape, block_size in SIZES[:4]:
        for causal in (False, True):
            same_gradients(learner.flash_attention, in_blocks, *three(rng, *shape), block_size, causal)


@task(3, after=(*FORWARD, *BACKWARD))
def test_dtype_and_device(learner, reference, rng):
    """The results have the dtype and the device of the inputs."""
    inputs = three(rng, 1, 2, 6, 4)
    keeps_dtype(learner.flash_attention, reference.flash_attention, *inputs, 4)
    keeps_device(learner.flash_attention, *inputs, 4, True)
    given, _ = backward_of(three(rng, 1, 2, 6, 4), rng.randn(1, 2, 6, 4), causal=True)
    keeps_dtype(learner.flash_attention_backward, reference.flash_attention_backward, *given, 4, True)
    keeps_device(learner.flash_attention_backward, *given, 4, True)


@task(3, after=FORWARD)
def test_inputs_unchanged(learner, rng):
    """The inputs are left as they were, and a second call gives the same."""
    keeps_inputs(learner.flash_attention, *three(rng, 1, 2, 6, 4), 4)
    given, _ = backward_of(three(rng, 1, 2, 6, 4), rng.randn(1, 2, 6, 4))
    keeps_inputs(learner.flash_attention_backward, *given, 4)


@task(3, after=(*FORWARD, *BACKWARD))
def test_argument_names(learner, rng):
    """The arguments are called as in the lesson, in the forward and in the backward pass."""
    given, _ = backward_of(three(rng, 1, 2, 6, 4), rng.randn(1, 2, 6, 4))
    names = ("query", "keys", "values", "output", "logsumexp", "grad_output")
    learner.flash_attention(**dict(zip(names[:3], given)), block_size=4, causal=False)
    learner.flash_attention_backward(**dict(zip(names, given, strict=True)), block_size=4, causal=False)


# Memory


@task(1, after=("own_attention", *FORWARD))
def test_memory_forward(learner, no_ready_made, rng, within_memory):
    """flash_attention takes less than 512 MiB for 16,384 tokens in blocks of 256, and it is right."""
    inputs = three(rng, 1, 1, MANY, SIZE)
    got = within_memory(learner.flash_attention, *inputs, BLOCK, True, mebibytes=ALLOWED)
    expect(tuple(got.shape) if isinstance(got, torch.Tensor) else got, (1, 1, MANY, SIZE))
    for place in (0, BLOCK, MANY - 1, *(rng.integer(0, MANY) for _ in range(LOOKED_AT))):
        query, (keys, values) = inputs[0][..., place : place + 1, :], (one[..., : place + 1, :] for one in inputs[1:])
        expect(got[..., place, :], exact(query, keys, values)[..., 0, :], "the result for one of the tokens")
    no_ready_made(learner.flash_attention, *three(rng, 1, 1, 5, 4), 2)  # nor was any called above


@task(2, after=("own_backward", *BACKWARD))
def test_memory_backward(learner, no_ready_made, rng, within_memory):
    """flash_attention_backward takes less than 256 MiB for 8,192 tokens in blocks of 256, and it is right."""
    kinds, grad_kinds = three(rng, 1, 1, KINDS, SIZE), rng.randn(1, 1, KINDS, SIZE)
    kind_of = rng.integers(0, KINDS, FEWER)
    counts = torch.bincount(kind_of, minlength=KINDS)[:, None]
    # Attention to copies is attention to one of them with the logarithm of their number added to its score.
    leaves = [kind.double().requires_grad_() for kind in kinds]
    scores = leaves[0] @ leaves[1].mT / SIZE**0.5 + counts.T.log()
    output = torch.softmax(scores, dim=-1) @ leaves[2]
    gradients = torch.autograd.grad(output, leaves, grad_kinds.double() * counts)
    expected = tuple((gradient / counts.clamp(min=1)).float()[..., kind_of, :] for gradient in gradients)
    facts = output.detach().float(), torch.logsumexp(scores, dim=-1).detach().float(), grad_kinds
    given = [fact[:, :, kind_of].contiguous() for fact in (*kinds, *facts)]
    got = within_memory(learner.flash_attention_backward, *given, BLOCK, mebibytes=ALLOWED_FEWER)
    expect_gradients(got, expected)
    no_ready_made(learner.flash_attention_backward, *backward_of(three(rng, 1, 1, 5, 4), rng.randn(1, 1, 5, 4))[0], 2)


@task(3, after=("own_attention", "gradients"))
def test_memory_gradients(learner, no_ready_made, rng, within_memory):
    """flash_attention and autograd's backward take less than 256 MiB for 8,192 tokens in blocks of 256."""
    inputs = three(rng, 1, 1, FEWER, SIZE)
    got = within_memory(learner.flash_attention, *inputs, BLOCK, gradients=True, mebibytes=ALLOWED_FEWER)
    wanted = [f"argument {index}" for index in (0, 1, 2)]
    if not isinstance(got, dict) or set(got) != set(wanted):
        raise Mismatch("the gradients of queries, keys and values are not all there")
    queries, keys, values = (got[name] for name in wanted)
    for gradient in (queries, keys, values):
        expect(tuple(gradient.shape) if isinstance(gradient, torch.Tensor) else gradient, tuple(inputs[0].shape))
        if not 0 < float(gradient.abs().mean()) < 1:
            raise Mismatch("the gradients of many tokens are not the true ones: they are 0, or too large")
    # The same vector added to all keys changes no weight; twice the queries are twice the keys.
    room = 1e-3 * float(keys.abs().max()) * FEWER**0.5
    expect(keys.sum(dim=-2), torch.zeros(1, 1, SIZE), "the sum of the gradients of all keys", room)
    shares = [float((one.double() * given.double()).sum()) for one, given in ((queries, inputs[0]), (keys, inputs[1]))]
    if abs(shares[0] - shares[1]) > 1e-3 * float((queries * inputs[0]).abs().sum()):
        raise Mismatch("the gradients of many tokens do not fit together: those of the queries to those of the keys")
    no_ready_made(learner.flash_attention, *three(rng, 1, 1, 5, 4), 2)
