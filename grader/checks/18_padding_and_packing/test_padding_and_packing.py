"""Hidden checks: each sequence of a batch against the same sequence alone, in float64; NaN and inf in the padding."""

import torch

from grader.authors import (
    LARGE_TOLERANCE,
    Mismatch,
    expect,
    expect_shape,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    refuses,
    same_gradients,
    task,
)

MASKS, WEIGHTS, PADDED = ("fresh_mask",), ("fresh_softmax",), ("fresh_padded_attention",)
PACKED = ("fresh_packed_attention",)
PACKING = {"pack": "fresh_pack", "unpack": "fresh_unpack"}
ATTENTION = {"padded_attention": "fresh_padded_attention", "packed_attention": "fresh_packed_attention"}
COMPUTING = {"masked_softmax": "fresh_softmax", "additive_mask": "fresh_additive_mask", **PACKING, **ATTENTION}
ALL = {"key_padding_mask": "fresh_mask", **COMPUTING}
GARBAGE = (torch.nan, torch.inf, -torch.inf)
# H, T, h and the lengths of a batch
BATCHES = (
    (2, 7, 3, (4, 7, 1)), (3, 5, 4, (2, 5)), (1, 4, 7, (3,)), (2, 7, 5, (5, 1, 7, 4)), (1, 1, 1, (1,)),
)  # fmt: skip
# H, h and the lengths of packed sequences
PACKS = ((2, 3, (4, 1, 6)), (3, 5, (2, 2)), (1, 4, (5,)), (2, 6, (1, 1, 3, 2)), (1, 1, (1,)))
SIZE, MANY, EACH = 32, 64, 256  # sequences of equal length: one table of all tokens takes 1 GiB
LONG, SHORT = 2048, 16  # one long sequence among MANY: padded to the longest the tables take 1 GiB
ALLOWED = 256  # MiB


def alone(query, keys, values, causal: bool = False) -> torch.Tensor:
    """The truth for one sequence, (H, n, h) each: attention in float64, in which all see all, or the past alone."""
    n, h = query.shape[-2:]
    scores = query.double() @ keys.double().mT / h**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), -torch.inf)
    return (torch.softmax(scores, dim=-1) @ values.double()).to(query.dtype)


def each_alone(three, lengths, side: str = "right", causal: bool = False) -> torch.Tensor:
    """The truth for a padded batch: every sequence alone, 0 elsewhere."""
    context = torch.zeros_like(three[0])
    for row, length in enumerate(lengths.tolist()):
        part = place_of(length, context.shape[2], side)
        context[row, :, part] = alone(*(x[row, :, part] for x in three), causal)
    return context


def place_of(length: int, tokens: int, side: str) -> slice:
    """Where the real tokens of a sequence are."""
    return slice(tokens - length, tokens) if side == "left" else slice(0, length)


def packed_alone(three, lengths, causal: bool = False) -> torch.Tensor:
    """The truth for packed sequences, (total, H, h) each."""
    parts = zip(*(x.transpose(0, 1).split(lengths, dim=1) for x in three))
    return torch.cat([alone(*part, causal) for part in parts], dim=1).transpose(0, 1)


def starts(lengths) -> torch.Tensor:
    """cu_seqlens of these lengths."""
    return torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)


def three(rng, *shape: int) -> list[torch.Tensor]:
    """Queries and keys whose scores differ clearly, and values."""
    return [2 * rng.randn(*shape), rng.randn(*shape), rng.randn(*shape)]


def real_places(lengths, tokens: int, side: str = "right") -> torch.Tensor:
    """True at real tokens, (B, T)."""
    real = torch.zeros(len(lengths), tokens, dtype=torch.bool)
    for row, length in enumerate(lengths.tolist()):
        real[row, place_of(length, tokens, side)] = True
    return real


def spoilt(x: torch.Tensor, real: torch.Tensor, value: float) -> torch.Tensor:
    """A copy of x, (B, H, T, h), with a value in all padding."""
    return torch.where(real[:, None, :, None], x, torch.full((), value))


def demand_zero(tensor: torch.Tensor, where: torch.Tensor, what: str) -> None:
    """Raise Mismatch unless all numbers at these places are exactly 0."""
    found = tensor[where.expand(tensor.shape)]
    if found.isnan().any():
        raise Mismatch(f"{what} is NaN; expected exactly 0")
    if (found != 0).any():
        raise Mismatch(f"{what} is not exactly 0", f"the largest is {found.abs().max():.3g}")


# Task 1


@task(1)
def test_fresh_mask(learner, rng):
    """The mask is right for any lengths, 0 and all places included, with the padding on either side."""
    for lengths, tokens in (((3, 0, 5, 1), 5), ((2,), 4), ((1,), 1), ((0, 0), 3), ((6, 6), 6)):
        lengths = torch.tensor(lengths)
        for side in ("right", "left"):
            got = learner.key_padding_mask(lengths, tokens, side)
            expect(got, real_places(lengths, tokens, side), f"the mask with padding on the {side}")
    tokens = rng.integer(7, 12)
    lengths = rng.integers(0, tokens + 1, 5)
    expect(learner.key_padding_mask(lengths, tokens), real_places(lengths, tokens), "the mask")


@task(1)
def test_mask_refuses(learner):
    """Raises ValueError for a length below 0 or above num_tokens, and for a side other than right and left."""
    refuses(ValueError, learner.key_padding_mask, torch.tensor([5]), 4)
    refuses(ValueError, learner.key_padding_mask, torch.tensor([2]), 4, "Left")
    refuses(ValueError, learner.key_padding_mask, torch.tensor([-1]), 4)
    refuses(ValueError, learner.key_padding_mask, torch.tensor([5, 2, 1]), 4)
    refuses(ValueError, learner.key_padding_mask, torch.tensor([2, -1]), 4)
    refuses(ValueError, learner.key_padding_mask, torch.tensor([1, 3]), 2, "left")
    refuses(ValueError, learner.key_padding_mask, torch.tensor([2, 1]), 4, "both")


# Task 2


def weights_of(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The truth of masked_softmax, in float64: exp over the sum of exp, at the places that are seen."""
    mask = mask.expand(scores.shape)
    clean = torch.where(mask, scores.double(), -torch.inf)
    largest = clean.amax(dim=-1, keepdim=True)
    powers = torch.exp(clean - largest.masked_fill(largest == -torch.inf, 0.0))
    total = powers.sum(dim=-1, keepdim=True)
    return (powers / total.masked_fill(total == 0, 1.0)).to(scores.dtype)


def seen(rng, *shape: int) -> torch.Tensor:
    """A random mask in which every row of the last dimension has a True and a False, where it has room."""
    mask = rng.rand(*shape) < 0.6
    mask[..., 0] = True
    mask[..., 1:2] = False
    return mask


@task(2)
def test_fresh_softmax(learner, rng):
    """The weights are right for masks of the scores' shape and for all that broadcast to it, and 0 where hidden."""
    shapes = ((3, 5), (2, 3, 4, 6), (2, 1, 3, 5), (3, 4, 4))
    for shape in shapes:
        scores, mask = 3 * rng.randn(*shape), seen(rng, *shape)
        expect(learner.masked_softmax(scores, mask), weights_of(scores, mask), "the weights")
    scores = 3 * rng.strided(2, 3, 4, 5)
    for mask in (seen(rng, 4, 5), seen(rng, 2, 1, 1, 5), seen(rng, 5), seen(rng, 3, 1, 5)):
        got = learner.masked_softmax(scores, mask)
        expect(got, weights_of(scores, mask), "the weights")
        demand_zero(got, ~mask, "a hidden weight")
    scores = rng.randn(3, 4)
    expect(learner.masked_softmax(scores, torch.ones(3, 4).bool()), torch.softmax(scores, dim=-1), "the weights")


@task(2, after="fresh_softmax")
def test_hidden_scores(learner, rng):
    """Hidden scores may be anything, NaN and infinity included: they change no weight."""
    scores, mask = 3 * rng.randn(2, 2, 3, 6), seen(rng, 2, 1, 3, 6)
    expected = weights_of(scores, mask)
    for value in (*GARBAGE, 1e30, -1e30):
        got = learner.masked_softmax(torch.where(mask, scores, torch.full((), value)), mask)
        expect(got, expected, f"the weights, where hidden scores are {value:g},")


@task(2)
def test_empty_rows(learner, rng):
    """A row that may attend to nothing is all 0, and the other rows are as ever."""
    scores, mask = 3 * rng.randn(2, 3, 4, 5), seen(rng, 2, 3, 4, 5)
    mask[0, 1], mask[1, :, 2] = False, False
    got = learner.masked_softmax(scores, mask)
    expect(got, weights_of(scores, mask), "the weights")
    demand_zero(got, ~mask, "a hidden weight")
    # a mask whose last size is 1 hides whole rows
    rows = torch.tensor([[True], [False], [True], [False]])
    expect(learner.masked_softmax(scores, rows), weights_of(scores, rows), "the weights, with a mask of shape (4, 1),")
    nothing = torch.where(rows, scores, torch.full((), torch.nan))
    expect(learner.masked_softmax(nothing, rows), weights_of(scores, rows), "the weights, where empty rows hold NaN,")


@task(2)
def test_large_scores(learner):
    """Scores of ±10,000 are right, even if all that a row may see is −10,000."""
    scores = [
        [-1e4, 1e4, -1e4],
        [1e4, -1e4, 0.0],
        [0.0, -1e4, -1e4],
        [1e4, 1e4, 1e4],
        [90.0, 9e3, 1e4],
        [-1e4, -9e3, 0.0],
        [-1e4, -1e4, -9e3],  # nothing is hidden, and all is far below the largest score of another row
    ]
    mask = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 1, 1], [1, 1, 0], [1, 1, 1]]
    expected = [[0.5, 0.0, 0.5], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5], *([[0.0, 0.0, 1.0]] * 2), [0.0, 1.0, 0.0]]
    expected, mask = [*expected, [0.0, 0.0, 1.0]], torch.tensor(mask).bool()
    scores, expected = torch.tensor(scores), torch.tensor(expected)
    expect(learner.masked_softmax(scores, mask), expected, "the weights", LARGE_TOLERANCE)


@task(2, after=WEIGHTS)
def test_softmax_gradients(learner, reference, rng):
    """The gradients are correct, exactly 0 at hidden scores and in empty rows, and never NaN."""
    scores, mask = 2 * rng.randn(2, 2, 4, 5), seen(rng, 2, 1, 4, 5)
    mine, theirs = learner.masked_softmax, reference.masked_softmax
    same_gradients(mine, theirs, scores, mask)
    for value in GARBAGE:
        same_gradients(mine, theirs, torch.where(mask, scores, torch.full((), value)), mask)
    mask[1, :, 2] = False  # a row that sees nothing
    for value in (0.0, *GARBAGE):
        given = torch.where(mask, scores, torch.full((), value))
        same_gradients(mine, theirs, given, mask)
    got = mine.gradients(scores, mask)["argument 0"]
    demand_zero(got, ~mask, "the gradient of a hidden score")


# Task 3


@task(3)
def test_fresh_additive_mask(learner, rng):
    """The additive mask has the dtype that is asked for, its lowest number where False, and the shape of the mask."""
    for dtype in (torch.float32, torch.bfloat16, torch.float64, torch.float16):
        for shape in ((4, 5), (2, 1, 1, 3), (6,)):
            mask = rng.rand(*shape) < 0.5
            mask.view(-1)[0], mask.view(-1)[-1] = True, False
            expected = torch.where(
                mask, torch.zeros((), dtype=dtype), torch.full((), torch.finfo(dtype).min, dtype=dtype)
            )
            got = learner.additive_mask(mask, dtype)
            expect(got, expected, "the additive mask")
    mask = seen(rng, 5, 4).T
    lowest = torch.finfo(torch.float32).min
    expect(learner.additive_mask(mask, torch.float32), torch.where(mask, 0.0, lowest), "the additive mask")


# Task 4


@task(4)
def test_fresh_padded_attention(learner, rng):
    """Each sequence of a batch gets what it would get alone, and padding gets 0."""
    for H, T, h, lengths in BATCHES:
        inputs, lengths = three(rng, len(lengths), H, T, h), torch.tensor(lengths)
        got = learner.padded_attention(*inputs, lengths)
        expect(got, each_alone(inputs, lengths), "the context vectors")
        demand_zero(got, ~real_places(lengths, T)[:, None, :, None], "the result at padding")
    inputs, lengths = [rng.strided(2, 2, 5, 3) for _ in range(3)], torch.tensor([3, 5])
    expect(learner.padded_attention(*inputs, lengths), each_alone(inputs, lengths), "the context vectors")


@task(4, after=PADDED)
def test_left_padding(learner, rng):
    """Left padding gives the same numbers, shifted."""
    for H, T, h, lengths in BATCHES:
        inputs, lengths = three(rng, len(lengths), H, T, h), torch.tensor(lengths)
        got = learner.padded_attention(*inputs, lengths, "left")
        expect(got, each_alone(inputs, lengths, "left"), "the context vectors")


@task(4, after=PADDED)
def test_causal_padded(learner, rng):
    """With causal=True no token sees a later one, on whichever side the padding is."""
    for H, T, h, lengths in BATCHES[:4]:
        inputs, lengths = three(rng, len(lengths), H, T, h), torch.tensor(lengths)
        for side in ("right", "left"):
            got = learner.padded_attention(*inputs, lengths, side, True)
            expect(got, each_alone(inputs, lengths, side, True), f"the context vectors with padding on the {side}")


@task(4, after=PADDED)
def test_garbage_in_padding(learner, rng):
    """Padding may hold NaN and infinity, in queries, keys and values: the result is the same."""
    inputs, lengths = three(rng, 3, 2, 5, 4), torch.tensor([3, 5, 1])
    for side, causal in (("right", False), ("left", True)):
        real, expected = real_places(lengths, 5, side), each_alone(inputs, lengths, side, causal)
        for index, name in enumerate(("queries", "keys", "values")):
            for value in GARBAGE[:2]:
                given = list(inputs)
                given[index] = spoilt(inputs[index], real, value)
                got = learner.padded_attention(*given, lengths, side, causal)
                expect(got, expected, f"the result, where padding of the {name} holds {value:g},")
    real = real_places(lengths, 5)
    given = [spoilt(x, real, value) for x, value in zip(inputs, (torch.inf, -torch.inf, torch.nan))]
    expect(learner.padded_attention(*given, lengths), each_alone(inputs, lengths), "the result")


@task(4, after=PADDED)
def test_empty_sequences(learner, rng):
    """A length of 0 is a sequence without tokens: all of it is 0, and the others are as ever."""
    inputs = three(rng, 3, 2, 4, 3)
    for lengths, side, causal in (((0, 4, 2), "right", False), ((3, 0, 0), "left", True), ((0, 0, 0), "right", True)):
        lengths = torch.tensor(lengths)
        given = [spoilt(x, real_places(lengths, 4, side), torch.nan) for x in inputs] if causal else inputs
        got = learner.padded_attention(*given, lengths, side, causal)
        expect(got, each_alone(inputs, lengths, side, causal), "the context vectors")


@task(4)
def test_padded_refuses(learner, rng):
    """padded_attention refuses the sides and lengths that key_padding_mask refuses."""
    inputs = three(rng, 2, 1, 4, 3)
    refuses(ValueError, learner.padded_attention, *inputs, torch.tensor([2, 5]))
    refuses(ValueError, learner.padded_attention, *inputs, torch.tensor([-1, 4]), "left")
    refuses(ValueError, learner.padded_attention, *inputs, torch.tensor([2, 4]), "top")


@task(4, after=PADDED)
def test_padded_gradients(learner, reference, rng):
    """The gradients are correct, exactly 0 at padding whatever it holds, and never NaN."""
    inputs = three(rng, 3, 2, 5, 4)
    mine, theirs = learner.padded_attention, reference.padded_attention
    lengths = torch.tensor([3, 5, 1])
    for side, causal in (("right", False), ("left", True)):
        same_gradients(mine, theirs, *inputs, lengths, side, causal)
        real = real_places(lengths, 5, side)
        for index in range(3):
            given = list(inputs)
            given[index] = spoilt(inputs[index], real, torch.nan)
            same_gradients(mine, theirs, *given, lengths, side, causal)
        lengths = torch.tensor([2, 0, 4])
    real = real_places(lengths, 5)
    given = [spoilt(x, real, torch.inf) for x in inputs]
    same_gradients(mine, theirs, *given, lengths)
    got = mine.gradients(*given, lengths)
    for index, name in enumerate(("queries", "keys", "values")):
        gradient = got.get(f"argument {index}") if isinstance(got, dict) else None
        expect_shape(gradient, (3, 2, 5, 4), f"the gradient of the {name}")
        demand_zero(gradient, ~real[:, None, :, None], f"the gradient of padding in the {name}")


@task(4, after=PADDED)
def test_large_padding(learner, reference, rng):
    """Padding may hold numbers so large that their products overflow: no gradient shows it."""
    inputs, lengths = three(rng, 3, 2, 5, 4), torch.tensor([3, 5, 1])
    real = real_places(lengths, 5)
    given = [spoilt(x, real, 3e38) for x in inputs]
    same_gradients(learner.padded_attention, reference.padded_attention, *given, lengths)


# Task 5


@task(5)
def test_fresh_pack(learner, rng):
    """pack gives the real tokens in order and int32 starts, for any number of further dimensions and any dtype."""
    batches = (
        (3 * rng.randn(3, 5, 2), (3, 5, 1)),
        (rng.randn(2, 4, 3, 2), (4, 2)),
        (rng.strided(2, 6), (1, 6)),
        (rng.integers(-9, 9, 3, 4), (2, 0, 4)),
        (rng.rand(2, 3, 2) < 0.5, (3, 1)),
        (rng.randn(3, 2, 4), (0, 0, 0)),
        (rng.randn(1, 1), (1,)),
        (rng.randn(4, 3, 2), (0, 3, 0, 0)),
    )
    for x, lengths in batches:
        expected = torch.cat([row[:length] for row, length in zip(x, lengths)])
        got = learner.pack(x, torch.tensor(lengths))
        expect(got, (expected, starts(lengths)), "what pack gives")


@task(5)
def test_pack_refuses(learner, rng):
    """pack raises ValueError for a length below 0 or above T."""
    refuses(ValueError, learner.pack, rng.randn(2, 4, 3), torch.tensor([2, 5]))
    refuses(ValueError, learner.pack, rng.randn(3, 4), torch.tensor([4, -1, 1]))


@task(5)
def test_fresh_unpack(learner, rng):
    """unpack puts each sequence at the left of its row, with zeros behind it, in the dtype that came in."""
    for lengths, further, tokens in (((3, 1, 4), (2,), 4), ((2, 5), (3, 2), 7), ((0, 3, 0), (), 3), ((0, 0), (2,), 2)):
        packed = rng.randn(sum(lengths), *further)
        for given in (packed, (9 * packed).long(), packed > 0):
            expected = torch.zeros(len(lengths), tokens, *further, dtype=given.dtype)
            for row, part in enumerate(given.split(lengths)):
                expected[row, : len(part)] = part
            expect(learner.unpack(given, starts(lengths), tokens), expected, "the batch")
    packed = rng.strided(5, 3)
    expected = torch.zeros(2, 4, 3)
    expected[0, :2], expected[1, :3] = packed[:2], packed[2:]
    expect(learner.unpack(packed, starts((2, 3)), 4), expected, "the batch")


@task(5)
def test_unpack_refuses(learner, rng):
    """unpack raises ValueError for a sequence that is longer than num_tokens."""
    refuses(ValueError, learner.unpack, rng.randn(6, 2), starts((2, 4)), 3)
    refuses(ValueError, learner.unpack, rng.randn(5), starts((3, 2)), 2)


@task(5, each=PACKING)
def test_pack_gradients(learner, reference, rng):
    """Gradients flow through pack and unpack; at padding they are exactly 0, even if it holds NaN."""
    x, lengths = rng.randn(3, 4, 2), torch.tensor([3, 0, 4])
    same_gradients(learner.pack, reference.pack, x, lengths)
    x[0, 3], x[1] = torch.nan, torch.inf
    same_gradients(learner.pack, reference.pack, x, lengths)
    same_gradients(learner.unpack, reference.unpack, rng.randn(7, 2), starts((3, 0, 4)), 5)


# Task 6


@task(6)
def test_fresh_packed_attention(learner, rng):
    """Packed sequences get what each would get alone; a sequence may have no tokens."""
    for H, h, lengths in PACKS:
        inputs = three(rng, sum(lengths), H, h)
        got = learner.packed_attention(*inputs, starts(lengths))
        expect(got, packed_alone(inputs, lengths), "the context vectors")
    for lengths in ((0, 3, 0, 2), (4, 0), (0, 0)):
        inputs = [rng.strided(sum(lengths), 2, 3) for _ in range(3)]
        got = learner.packed_attention(*inputs, starts(lengths))
        expect(got, packed_alone(inputs, lengths), "the context vectors, where a sequence has no tokens,")


@task(6, after="fresh_packed_attention")
def test_causal_packed(learner, rng):
    """With causal=True no token sees a later one of its sequence."""
    for H, h, lengths in PACKS:
        inputs = three(rng, sum(lengths), H, h)
        got = learner.packed_attention(*inputs, starts(lengths), True)
        expect(got, packed_alone(inputs, lengths, True), "the context vectors")


@task(6, after=PACKED)
def test_packed_gradients(learner, reference, rng):
    """The gradients of packed attention are correct."""
    for causal in (False, True):
        inputs = three(rng, 9, 2, 4)
        same_gradients(learner.packed_attention, reference.packed_attention, *inputs, starts((4, 0, 1, 4)), causal)


# All of them


@task(6, each=ATTENTION)
def test_large_products(learner):
    """Scores of ±10,000 between real tokens are right, padded and packed."""
    keys = torch.tensor([[100.0, 0.0], [-100.0, 0.0], [50.0, 0.0], [75.0, 0.0], [100.0, 0.0]])
    query, values = torch.full((5, 2), 100 * 2**0.5), torch.tensor([1.0, 2.0, 4.0, 8.0, 16.0])[:, None].repeat(1, 2)
    batch = [x[None, None] for x in (query, keys, values)]
    expected = torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0])[:, None].repeat(1, 2)
    got = learner.padded_attention(*batch, torch.tensor([4]))
    expect(got, expected[None, None], "the padded context vectors", LARGE_TOLERANCE)
    got = learner.padded_attention(-batch[0], *batch[1:], torch.tensor([1]))  # all that is seen is −10,000
    expect(got, torch.tensor([1.0, 0, 0, 0, 0])[:, None].repeat(1, 2)[None, None], "the padded context vectors")
    got = learner.packed_attention(*(x[:, None] for x in (query, keys, values)), starts((1, 3, 1)), True)
    expect(got, values[:, None], "the packed context vectors", LARGE_TOLERANCE)  # each token's own score is the largest


@task(6, each=COMPUTING)
def test_dtype_and_device(learner, reference, rng):
    """Works in float64 and on other devices: the output keeps the dtype and device of the input."""
    kept = {"dtypes": (torch.float64,)}
    scores, mask, inputs = rng.randn(2, 3, 4), seen(rng, 3, 4), three(rng, 2, 2, 4, 3)
    lengths, packed = torch.tensor([3, 4]), three(rng, 7, 2, 3)
    keeps_dtype(learner.masked_softmax, reference.masked_softmax, scores, mask, **kept)
    keeps_dtype(learner.padded_attention, reference.padded_attention, *inputs, lengths, "left", True, **kept)
    keeps_dtype(learner.pack, reference.pack, inputs[0], torch.tensor([1, 2]), **kept)
    keeps_dtype(learner.unpack, reference.unpack, packed[0], starts((3, 4)), 5, **kept)
    keeps_dtype(learner.packed_attention, reference.packed_attention, *packed, starts((3, 4)), True, **kept)
    keeps_device(learner.masked_softmax, scores, mask)
    keeps_device(learner.additive_mask, mask, torch.float32)


@task(6, each=ALL)
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    mask, inputs, lengths = seen(rng, 3, 4), three(rng, 2, 2, 4, 3), torch.tensor([3, 2])
    mask[1] = False
    keeps_inputs(learner.key_padding_mask, lengths, 4, "left")
    keeps_inputs(learner.masked_softmax, rng.randn(2, 3, 4), mask)
    keeps_inputs(learner.additive_mask, mask, torch.float32)
    keeps_inputs(learner.padded_attention, *inputs, lengths, "right", True)
    keeps_inputs(learner.pack, rng.randn(2, 4, 3), lengths)
    keeps_inputs(learner.unpack, rng.randn(5, 2), starts((3, 2)), 4)
    keeps_inputs(learner.packed_attention, *three(rng, 5, 2, 3), starts((3, 2)), True)


@task(6, each=ALL)
def test_argument_names(learner, rng):
    """Arguments have the names used in the lesson."""
    lengths, names = torch.tensor([3, 2]), ("queries", "keys", "values")
    learner.key_padding_mask(lengths=lengths, num_tokens=4, side="left")
    learner.masked_softmax(scores=rng.randn(3, 4), mask=seen(rng, 3, 4))
    learner.additive_mask(mask=seen(rng, 3, 4), dtype=torch.float64)
    batch = dict(zip(names, three(rng, 2, 2, 4, 3), strict=True))
    learner.padded_attention(**batch, lengths=lengths, side="right", causal=True)
    learner.pack(x=rng.randn(2, 4), lengths=lengths)
    learner.unpack(packed=rng.randn(5), cu_seqlens=starts((3, 2)), num_tokens=4)
    packed = dict(zip(names, three(rng, 5, 2, 3), strict=True))
    learner.packed_attention(**packed, cu_seqlens=starts((3, 2)), causal=False)


# Memory


@task(6, after=(*PACKED, "packed_gradients"))
def test_memory_of_a_table(learner, rng, within_memory):
    """64 sequences of 256 tokens take less than 256 MiB, forward and backward, and the gradients are right."""
    inputs, lengths = three(rng, MANY * EACH, 1, SIZE), [EACH] * MANY
    attention = learner.packed_attention
    got = within_memory(attention, *inputs, starts(lengths), gradients=True, mebibytes=ALLOWED)
    leaves = [x.double().requires_grad_() for x in inputs]
    generator = torch.Generator().manual_seed(attention.cotangent_seed)
    cotangent = torch.randn(inputs[0].shape, generator=generator)
    expected = torch.autograd.grad((packed_alone(leaves, lengths) * cotangent).sum(), leaves)
    for index, (gradient, name) in enumerate(zip(expected, ("queries", "keys", "values"))):
        mine = got.get(f"argument {index}") if isinstance(got, dict) else None
        expect(mine, gradient.float(), f"the gradient of the {name}", 1e-4)


@task(6, after=PACKED)
def test_memory_of_padding(learner, rng, within_memory):
    """One sequence of 2,048 tokens among 63 of 16 takes less than 256 MiB, and the result is right."""
    lengths = [SHORT] * MANY
    lengths[rng.integer(1, MANY - 1)] = LONG
    inputs = three(rng, sum(lengths), 1, SIZE)
    got = within_memory(learner.packed_attention, *inputs, starts(lengths), mebibytes=ALLOWED)
    expect(got, packed_alone(inputs, lengths), "the context vectors")
