"""Hidden checks: fresh inputs against float64; one launch, no address outside, tiles, any order of the programs."""

import torch

from grader.authors import (
    Mismatch,
    computes_in_kernels,
    expect,
    expect_shape,
    gives,
    keeps_inputs,
    launches_once,
    loads_at_most,
    stays_inside,
    task,
)

FRESH = {
    "softmax": "fresh_softmax",
    "matmul": "fresh_matmul",
    "flash_attention": ("fresh_flash", "fresh_causal"),
}
# The small ones first: they tell most wrong answers from the right one, and a call takes long.
ROWS = ((7, 5), (1, 1), (3, 12), (2, 16), (2, 100), (2, 37))  # (R, C); the first tells rows from columns
PRODUCTS = ((7, 5, 8, 16), (18, 33, 3, 16), (17, 2, 18, 16), (33, 1, 2, 32))  # (M, K, N, block)
# (B, H, T, h, block)
TOKENS = ((1, 1, 16, 16, 16), (2, 3, 5, 16, 16), (1, 1, 24, 32, 16), (1, 1, 16, 16, 64))
CAUSAL_TOKENS = ((1, 1, 16, 16, 16), (1, 2, 5, 16, 16), (1, 1, 40, 16, 16), (1, 1, 6, 32, 16))
MANY = 96  # tokens of float16, in six tiles
LATER, SIDE = 40, 16  # tokens and side of a tile where later tiles are looked at
TOLERANCE = 5e-5  # sums in another order
ROOM = 2e-3  # of the largest value, for float16


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x.double(), dim=-1).float()


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a.double() @ b.double()).float()


def attention(queries, keys, values, causal: bool) -> torch.Tensor:
    """The truth in float64, as float32."""
    whole = torch.nn.functional.scaled_dot_product_attention
    return whole(queries.double(), keys.double(), values.double(), is_causal=causal).float()


def three(rng, *shape: int) -> list[torch.Tensor]:
    """Queries and keys whose scores differ clearly, and values."""
    return [2 * rng.randn(*shape), rng.randn(*shape), rng.randn(*shape)]


def strided_three(rng, T: int = 7) -> list[torch.Tensor]:
    """The same with strides that no two share, nor the output: as a split into heads of a part leaves them."""
    queries = rng.randn(2, T + 1, 3, 16)[:, :T, :2].transpose(1, 2)
    keys = rng.randn(2, 3, 16, T + 2)[:, :2, :, :T].transpose(2, 3)
    return [queries, keys, rng.randn(2, 2, T, 32)[..., ::2]]


def in_other_orders(rng) -> list[torch.Tensor]:
    """Queries and keys, each in an order of its own in memory without gaps: wrong strides give wrong numbers there."""
    queries, keys, values = three(rng, 1, 2, 5, 16)
    return [queries.transpose(1, 2).contiguous().transpose(1, 2), keys.mT.contiguous().mT, values]


def two(rng) -> list[torch.Tensor]:
    """Two factors whose rows and columns are not next to each other in memory."""
    return [rng.randn(17, 5).T, rng.randn(17, 40)[:, ::2]]


def calls(learner, rng, backwards: bool = False):
    """A call of each function with its right result, with sizes that no tile divides and other strides."""
    x, (a, b), inputs = rng.randn(5, 3).T, two(rng), strided_three(rng)
    yield learner.softmax.launches(x, backwards=backwards), softmax(x)
    yield learner.matmul.launches(a, b, 16, backwards=backwards), product(a, b)
    yield learner.flash_attention.launches(*inputs, True, 16, backwards=backwards), attention(*inputs, True)


# Task 1


@task(1)
def test_fresh_softmax(learner, rng):
    """softmax is right for any number of rows and columns, and for a matrix with other strides."""
    for shape in ROWS:
        x = 3 * rng.randn(*shape) - 4  # below 0, where a lane that holds 0 shows itself
        gives(learner.softmax.launches(x), softmax(x))
    for x in (rng.randn(7, 3).T, rng.randn(2, 14)[:, ::2], rng.randn(1, 5).expand(2, 5)):
        gives(learner.softmax.launches(x), softmax(x))


@task(1, after="documented_softmax")
def test_large_softmax(learner):
    """Numbers of ±10,000 and −inf give no NaN and no infinity."""
    x = torch.tensor([[200.0, 200.0, 200.0], [-300.0, -300.0, -300.0]])  # right with any number of the row taken away
    gives(learner.softmax.launches(x), torch.full((2, 3), 1 / 3))
    x = torch.tensor([[9e3, 1e4, -1e4], [-1e4, -1e4, -9e3], [0.0, -torch.inf, -torch.inf], [-1e4, -1e4, -1e4]])
    expected = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    gives(learner.softmax.launches(x), expected / expected.sum(dim=1, keepdim=True))
    x = torch.full((1, 1000), -50.0)  # together they weigh less than the last digit of 1, unless exponents are bounded
    x[0, 7] = 0.0
    gives(learner.softmax.launches(x), torch.softmax(x, dim=1))


@task(1, after="fresh_softmax")
def test_softmax_rows(learner, rng):
    """softmax_kernel is launched once, with one program a row, and no load takes more than one row."""
    x = rng.randn(3, 1000)  # a tile of the longest power of two that is usual is no more than a row
    record = learner.softmax.launches(x)
    gives(record, softmax(x))
    launches_once(record, "softmax_kernel", programs=3)
    loads_at_most(record, 1024, "a row")


# Task 2


@task(2)
def test_fresh_matmul(learner, rng):
    """matmul is right for any sizes, whether or not a tile divides them, and for factors with other strides."""
    factors = [(rng.randn(M, K), rng.randn(K, N), block) for M, K, N, block in PRODUCTS]
    for number in (0, 1):  # what lies below the last row of such a factor is a number, and not NaN
        a, b, block = factors[number]
        factors[number] = a, b.T.contiguous().T, block
    transposed = rng.randn(32, 32).T, rng.randn(48, 32).T, 16
    strided = transposed, (rng.randn(40, 64)[:, ::2], rng.randn(32, 48)[:, ::2], 16)
    # Whole tiles first, where strides and steps show themselves, and no mask. Both are asked for before one is judged,
    # since slips that are alike in one differ in the other.
    for (a, b, _), got in zip(strided, [learner.matmul.launches(*one) for one in strided]):
        gives(got, product(a, b), tolerance=TOLERANCE)
    for a, b, block in factors:
        gives(learner.matmul.launches(a, b, block), product(a, b), tolerance=TOLERANCE)


@task(2, after="fresh_matmul")
def test_matmul_tiles(learner, rng):
    """matmul_kernel is launched once, and no load takes more than a tile of block × block numbers."""
    a, b = rng.randn(17, 18), rng.randn(18, 3)
    for block in (32, 16):  # a tile that is always 32 wide fails the second one alone
        record = learner.matmul.launches(a, b, block)
        gives(record, product(a, b), tolerance=TOLERANCE)
        launches_once(record, "matmul_kernel")
        loads_at_most(record, block * block, "a tile")


# Task 3


@task(3)
def test_fresh_flash(learner, rng):
    """flash_attention is attention to all tokens, for any number of tokens and inputs with other strides."""
    for *shape, block in TOKENS:
        inputs = three(rng, *shape)
        gives(learner.flash_attention.launches(*inputs, False, block), attention(*inputs, False), tolerance=TOLERANCE)
    two_tiles = [x[:1, :1] for x in strided_three(rng, 20)]  # pointers may be moved from one tile to the next
    for inputs in (in_other_orders(rng), strided_three(rng), two_tiles):
        gives(learner.flash_attention.launches(*inputs, False, 16), attention(*inputs, False), tolerance=TOLERANCE)


@task(3)
def test_fresh_causal(learner, rng):
    """With causal=True every token sees itself and those before it."""
    for *shape, block in CAUSAL_TOKENS:
        inputs = three(rng, *shape)
        gives(learner.flash_attention.launches(*inputs, True, block), attention(*inputs, True), tolerance=TOLERANCE)


@task(3, after="documented_flash")
def test_large_scores(learner):
    """Scores of ±10,000 give no NaN and no infinity, whichever tile holds the largest."""
    # A column of the keys for each kind of query, which is the row's number modulo 5.
    place = torch.arange(20)
    columns = torch.stack([torch.where(place < 16, 100.0, -100.0), torch.where(place < 16, -100.0, 100.0)])
    halves = torch.where(place < 8, 50.0, 100.0) * columns[0].sign()  # scores of 5,000 beside those of 10,000
    keys = torch.stack([*columns, torch.full((20,), -100.0), halves, torch.full((20,), -1.5)], dim=1)
    keys = torch.nn.functional.pad(keys, (0, 11))[None, None]  # (1, 1, 20, 16)
    queries = 400 * torch.eye(16)[place % 5][None, None]  # scores of ±10,000 and ±5,000, and of −150 alone
    values = torch.arange(20.0)[:, None].expand(20, 16).contiguous()[None, None]
    record = learner.flash_attention.launches(queries, keys, values, False, 16)
    mean = torch.tensor([7.5, 17.5, 9.5, 11.5, 9.5])[place % 5]
    gives(record, mean[:, None].expand(1, 1, 20, 16), tolerance=0.05)  # a logarithm of 1e4 has three digits
    few = queries[:, :, 2::5].expand(1, 1, 4, 16), keys[:, :, :4], values[:, :, :4]
    record = learner.flash_attention.launches(*few, True, 16)  # all that is seen is −10,000
    gives(record, few[2].cumsum(dim=2) / torch.arange(1, 5)[:, None], tolerance=0.05)
    # Keys 50 below the largest weigh nothing, however large their values are.
    keys, place = torch.full((1, 1, 32, 16), -50.0), torch.arange(32)
    keys[..., (0, 30), 0] = keys[..., (30, 31), 1] = 0.0
    queries = 4 * torch.eye(16)[place % 2][None, None]  # the scale takes it away: a score is one number of the key
    values = torch.where(keys[..., :2].repeat(1, 1, 1, 8) < 0, 1e6, 1.0)
    expected = attention(queries, keys, values, False)
    gives(learner.flash_attention.launches(queries, keys, values, False, 16), expected)


@task(3, after=("fresh_flash", "fresh_causal"))
def test_half(learner, rng):
    """float16 comes back as float16, right to two thousandths: maximum, sum and output are kept in float32."""
    inputs = [tensor.half() for tensor in three(rng, 1, 1, 20, 16)]
    got = learner.flash_attention.launches(*inputs, False, 16).result
    expect_shape(got, (1, 1, 20, 16))
    if got.dtype != torch.float16:
        raise Mismatch("the result of float16 is not float16")
    expected = attention(*inputs, False)
    expect(got.float(), expected, "the result of float16", tolerance=ROOM * float(expected.abs().max()))
    # After the first tile, each one adds less than half of the last digit that float16 has for the sums so far.
    queries, keys, values = (torch.zeros(1, 1, MANY, 16, dtype=torch.float16) for _ in range(3))
    queries[..., 0], keys[..., 16:, 0] = 4.0, -7.65  # 16 weights of 1, and MANY - 16 of 0.00048
    values[..., 0], values[..., :16, 1] = 1.0, 1.0
    inputs = queries, keys, values
    got = learner.flash_attention.launches(*inputs, True, 16).result
    expect(got.float(), attention(*inputs, True), "the result of float16", tolerance=ROOM)


@task(3, after="fresh_causal")
def test_later_tiles(learner, rng):
    """In causal mode a program reads no key and no value of a tile after that of its queries."""
    inputs = three(rng, 1, 1, LATER, 16)
    for tensor in inputs[1:]:
        tensor[..., 2 * SIDE :, :] = torch.nan  # nothing of it may reach the queries before
    record = learner.flash_attention.launches(*inputs, True, SIDE)
    expect_shape(record.result, (1, 1, LATER, 16))
    before = [tensor[..., : 2 * SIDE, :] for tensor in inputs]
    expect(
        record.result[..., : 2 * SIDE, :],
        attention(*before, True),
        "the result before a tile of NaN",
        tolerance=TOLERANCE,
    )


@task(3, after=("fresh_flash", "fresh_causal"))
def test_flash_tiles(learner, rng):
    """flash_kernel is launched once, and no load takes more than a tile of block rows."""
    inputs = three(rng, 2, 2, 5, 16)  # several batches and heads, none of which has a launch of its own
    for block in (16, 32):
        record = learner.flash_attention.launches(*inputs, True, block)
        gives(record, attention(*inputs, True), tolerance=TOLERANCE)
        launches_once(record, "flash_kernel")
        loads_at_most(record, block * max(block, 16), "a tile")


# What every kernel promises


@task(3, each=FRESH)
def test_inside(learner, rng):
    """No load and no store leaves the tensors that were passed to the kernel."""
    for record, _ in calls(learner, rng):
        stays_inside(record)


@task(3, each=FRESH)
def test_any_order(learner, rng):
    """The result does not depend on the order in which the programs run."""
    for record, expected in calls(learner, rng, backwards=True):
        gives(record, expected, "the result, with the last program first,", TOLERANCE)


@task(3, each=FRESH)
def test_own_work(learner, rng):
    """The numbers come from the kernels: torch makes empty tensors and views."""
    for record, _ in calls(learner, rng):
        computes_in_kernels(record)


@task(3, each=FRESH)
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    keeps_inputs(learner.softmax, rng.randn(3, 5))
    keeps_inputs(learner.matmul, rng.randn(4, 5), rng.randn(5, 3), 16)
    keeps_inputs(learner.flash_attention, *three(rng, 1, 1, 5, 16), True, 16)


@task(3, each=FRESH)
def test_argument_names(learner, rng):
    """The arguments have the names used in the lesson: x; a, b and block; queries, keys, values, causal and block."""
    learner.softmax(x=rng.randn(2, 3))
    learner.matmul(a=rng.randn(2, 3), b=rng.randn(3, 2), block=16)
    queries, keys, values = three(rng, 1, 1, 4, 16)
    learner.flash_attention(queries=queries, keys=keys, values=values, causal=True, block=16)


# On a GPU


@task(3, each=FRESH)
def test_gpu(learner, rng, compiles):
    """The kernels compile for a GPU. None is needed to find out."""
    for target, inputs in float32(learner, rng):
        compiles(target, *inputs)


@task(3, each=FRESH)
def test_full_float32(learner, rng, compiles):
    """On a GPU too, products of float32 are full float32."""
    for target, inputs in float32(learner, rng):
        compiles(target, *inputs, full_float32=True)


def float32(learner, rng):
    """Each function with inputs of float32."""
    yield learner.softmax, (rng.randn(3, 5),)
    yield learner.matmul, (rng.randn(20, 20), rng.randn(20, 20), 32)
    yield learner.flash_attention, (*three(rng, 1, 2, 20, 16), False, 32)
    yield learner.flash_attention, (*three(rng, 1, 2, 20, 16), True, 32)
