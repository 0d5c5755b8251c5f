"""Hidden checks: fresh inputs against the formulas in float64, and what must hold for any input."""

import torch

from grader.authors import (
    Mismatch,
    agrees,
    expect,
    expect_shape,
    held_tensor,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    refuses,
    same_gradients,
    task,
)

# (B, H, T_q, T_k): each number is above and below the others somewhere, and all are equal once.
SIZES = ((2, 3, 4, 5), (3, 2, 1, 4), (4, 5, 3, 1), (1, 4, 4, 4), (3, 3, 3, 3), (2, 1, 5, 2), (1, 1, 1, 1))
LAYERS = ((2, 5, 3, 8, 2), (3, 3, 4, 6, 3), (1, 4, 2, 4, 4), (4, 2, 5, 3, 1), (2, 1, 3, 4, 2))  # B, T, d_in, d_out, H
WINDOWED = ((2, 7, 3, 4, 2, 3), (1, 9, 4, 6, 3, 1), (2, 6, 2, 8, 4, 5), (1, 5, 3, 2, 1, 5), (2, 4, 3, 6, 2, 9))
# num_sinks, window, and after how many tokens: fewer than the sinks, exactly full, one more, many more
KEPT = (
    (5, 0, 2), (0, 0, 1), (0, 3, 2), (1, 0, 1), (1, 4, 1), (2, 4, 3), (7, 3, 4), (8, 3, 4), (9, 3, 4),
    (4, 5, 2), (6, 5, 2), (30, 4, 8), (12, 1, 1), (3, 0, 9), (10, 9, 1),
)  # fmt: skip
# num_sinks, window, (B, H, h), the tokens of each append
LIVES = (
    (2, 3, (2, 3, 4), (1, 1, 1, 1, 1, 1, 1)),
    (4, 3, (1, 2, 2), (2, 5, 1, 9, 1)),
    (0, 4, (2, 1, 6), (3, 3, 6)),
    (3, 2, (1, 1, 2), (11, 1)),
    (5, 4, (3, 2, 2), (1, 2, 4, 4)),
)
# num_sinks, window, (B, H, h), the tokens of each append, and the base of the rotation
STREAMS = (
    (2, 3, (2, 3, 4), (4, 3, 2, 1), 10_000.0),
    (0, 4, (1, 2, 6), (6, 1, 1), 10_000.0),
    (4, 5, (2, 2, 2), (3,), 10_000.0),
    (1, 6, (1, 3, 8), (30, 1), 100.0),
    (3, 1, (2, 1, 4), (1, 9), 500_000.0),
    (4, 60, (1, 2, 8), (90,), 10_000.0),
)
ALL = {
    "sink_softmax": ("fresh_sink_softmax", "hidden_rows"),
    "SinkAttention": "fresh_attention",
    "StreamingCache": "fresh_cache",
    "streaming_attention": "fresh_streaming",
}


def weights_with_sink(scores: torch.Tensor, sinks: torch.Tensor) -> torch.Tensor:
    """The truth: the formula in float64."""
    wide, sink = scores.double(), sinks.double()[:, None]
    most = torch.maximum(wide.amax(dim=-1), sink)[..., None]
    powers = torch.exp(wide - most)
    return (powers / (powers.sum(dim=-1, keepdim=True) + torch.exp(sink[..., None] - most))).to(scores.dtype)


def hidden_somewhere(rng, scores: torch.Tensor) -> torch.Tensor:
    """The scores, a third of them −inf, and none where a row would see nothing."""
    hidden = rng.rand(*scores.shape) < 1 / 3
    hidden[..., 0] &= ~hidden.all(dim=-1)
    return scores.masked_fill(hidden, -torch.inf)


def twins(learner, reference, rng, *args):
    """The learner's layer and the solution's, with the same random weights and sinks that are not 0."""
    theirs = reference.SinkAttention(*args)
    state = {key: rng.randn(*value.shape) for key, value in theirs.parameters().items()}
    state = {key: value / value.shape[1] ** 0.5 if value.ndim == 2 else 1.5 * value for key, value in state.items()}
    theirs.load(state)
    return learner.SinkAttention(*args, state=state), theirs


def kept(num_seen: int, num_sinks: int, window: int) -> list[int]:
    """The truth, position by position."""
    return [place for place in range(num_seen) if place < num_sinks or place >= num_seen - window]


def text(rng, B: int, H: int, h: int, tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values of a text: their chunks do not lie row by row."""
    return rng.randn(B, H, tokens, h), rng.randn(B, H, tokens, h)


def streamed(learner, num_sinks: int, window: int, keys, values, lengths):
    """A cache to which a text was appended in chunks."""
    cache = learner.StreamingCache(num_sinks, window)
    for chunk in zip(keys.split(lengths, dim=2), values.split(lengths, dim=2), strict=True):
        cache.append(*chunk)
    return cache


def rotated(x: torch.Tensor, places: torch.Tensor, base: float) -> torch.Tensor:
    """x (…, T, h) in float64, each pair (i, i + h / 2) of a token turned as a complex number."""
    half = x.shape[-1] // 2
    angles = places[:, None] * base ** (-torch.arange(half, dtype=torch.float64) / half)  # (T, h / 2)
    turned = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], dim=-1)


def attention_by_place(query, keys, values, base: float) -> torch.Tensor:
    """The truth in float64: query (B, H, 1, h) to the kept keys and values, in the order of the text."""
    places = torch.arange(keys.shape[-2], dtype=torch.float64)
    query, keys, values = query.double(), rotated(keys.double(), places, base), values.double()
    scores = rotated(query, places[-1:], base) @ keys.mT / query.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ values


# Task 1


@task(1)
def test_fresh_sink_softmax(learner, rng):
    """sink_softmax is right on new scores and sinks, with hidden scores and for any number of queries and keys."""
    for B, H, T_q, T_k in SIZES:
        scores, sinks = hidden_somewhere(rng, 2 * rng.randn(B, H, T_q, T_k)), 2 * rng.randn(H)
        expect(learner.sink_softmax(scores, sinks), weights_with_sink(scores, sinks))
    scores, sinks = rng.strided(2, 3, 4, 2), torch.tensor([3.0, 0.0, -3.0])
    scores[0, 1, 2] = 0.0  # scores like others
    expect(learner.sink_softmax(scores, sinks), weights_with_sink(scores, sinks))


@task(1, after="fresh_sink_softmax")
def test_hidden_rows(learner, rng):
    """A row of nothing but −∞ is all 0, and sends no gradient to its scores or to the sink."""
    scores, sinks = rng.randn(2, 3, 4, 5), rng.randn(3)
    scores[0, 1, 2], scores[1, :, 0], scores[1, 2] = -torch.inf, -torch.inf, -torch.inf
    got, expected = learner.sink_softmax(scores, sinks), weights_with_sink(scores, sinks)
    expect(got[0, 1, 2], torch.zeros(5), "the row that sees nothing")
    expect(got, expected)
    same_gradients(learner.sink_softmax, weights_with_sink, scores, sinks)


@task(1)
def test_large_scores(learner):
    """Scores and sinks of ±10,000 give no NaN: neither the weights nor the gradients."""
    high, hidden = 1e4, -torch.inf
    row = torch.tensor(
        [[high, high, -high], [-high, -high, -high], [-high, 0.0, -high], [hidden, -high, hidden], [hidden] * 3]
    )
    scores, sinks = row.repeat(1, 3, 1, 1), torch.tensor([high, -high, 0.0])
    third = 1 / 3
    expected = torch.tensor(
        [
            [[third, third, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
            [[0.5, 0.5, 0.0], [0.25, 0.25, 0.25], [0.0, 1.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]],
            [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
        ]
    )[None]
    expect(learner.sink_softmax(scores, sinks), expected, tolerance=2e-3)
    for name, gradient in learner.sink_softmax.gradients(scores, sinks).items():
        if not bool(torch.isfinite(gradient).all()):
            raise Mismatch(f"the gradient of {name} is not finite for scores of ±10,000")


# Task 2


@task(2)
def test_fresh_attention(learner, reference, rng):
    """SinkAttention is right on new inputs of other sizes, with sinks that are not 0."""
    for B, T, d_in, d_out, num_heads in LAYERS:
        mine, theirs = twins(learner, reference, rng, d_in, d_out, num_heads)
        agrees(mine, theirs, rng.randn(B, T, d_in))
    agrees(mine, theirs, rng.strided(3, 6, d_in))
    # Scores of −10,000 are visible, and whatever hides the others must be lower still.
    state = {"W_query.weight": torch.tensor([[100.0, 0.0, 0.0]]), "W_key.weight": torch.tensor([[0.0, 100.0, 0.0]])}
    state |= {"W_value.weight": torch.tensor([[0.0, 0.0, 1.0]]), "out_proj.weight": torch.eye(1)}
    layer = learner.SinkAttention(3, 1, 1, state=state | {"sinks": torch.tensor([-1e4])})
    x = torch.tensor([[1.0, -1.0, 8.0], [1.0, -1.0, 4.0], [1.0, -1.0, 36.0], [-1.0, -1.0, 2.0]])
    expect(layer(x[None])[0, :, 0], torch.tensor([4.0, 4.0, 12.0, 12.5]), "the output for scores of ±10,000", 0.1)


@task(2, after="fresh_attention")
def test_windows(learner, reference, rng):
    """With a window each token sees itself and the window − 1 tokens before it; the first token is like any other."""
    for B, T, d_in, d_out, num_heads, window in WINDOWED:
        mine, theirs = twins(learner, reference, rng, d_in, d_out, num_heads, window)
        agrees(mine, theirs, rng.randn(B, T, d_in))
        agrees(mine, theirs, rng.randn(1, T + 3, d_in))


@task(2)
def test_refused_layers(learner):
    """Raises ValueError when num_heads does not divide d_out, and for a window below 1."""
    for sizes in ((3, 4, 2, 1), (5, 4, 4), (3, 4, 2)):
        learner.SinkAttention(*sizes)
    for sizes in ((4, 6, 4), (2, 5, 2), (4, 2, 4), (3, 4, 2, -1), (3, 4, 2, 0)):
        refuses(ValueError, learner.SinkAttention, *sizes)


# Task 3


@task(3)
def test_fresh_positions(learner, rng):
    """kept_positions is right at every stage: an empty text, few tokens, exactly full, and many more."""
    for sizes in (*KEPT, (rng.integer(40, 60), rng.integer(2, 6), rng.integer(3, 9))):
        got = learner.kept_positions(*sizes)
        expect(got, torch.tensor(kept(*sizes), dtype=torch.int64), "the kept positions")


# Task 4


@task(4)
def test_fresh_cache(learner, rng):
    """After each append the cache holds the first and the last tokens, in order, and counts those kept and seen."""
    other, fresh = learner.StreamingCache(1, 2), learner.StreamingCache(3, 2)
    expect((len(fresh), fresh.num_seen.read()), (0, 0), "(len(cache), num_seen) of a new cache")
    for num_sinks, window, sizes, lengths in LIVES:
        cache, (keys, values) = learner.StreamingCache(num_sinks, window), text(rng, *sizes, sum(lengths))
        num_seen = 0
        for length in lengths:
            cache.append(*(tensor[:, :, num_seen : num_seen + length] for tensor in (keys, values)))
            num_seen += length
            if num_seen <= 2 or num_seen == num_sinks + window + 1:  # there, one kept too many is as if all were
                continue
            places = kept(num_seen, num_sinks, window)
            expect(cache.keys.read(), keys[:, :, places], f"cache.keys after {num_seen} tokens")
            expect(cache.values.read(), values[:, :, places], f"cache.values after {num_seen} tokens")
        expect(cache.num_seen.read(), num_seen, "cache.num_seen")
        expect(len(cache), len(places), "len(cache)")
    expect((len(other), other.num_seen.read()), (0, 0), "(len(cache), num_seen) of a cache that was not used")


@task(4)
def test_refused_caches(learner):
    """Raises ValueError for num_sinks below 0 and for a window below 1."""
    learner.StreamingCache(0, 1)
    for sizes in ((-1, 4), (2, 0), (2, -3), (0, 0)):
        refuses(ValueError, learner.StreamingCache, *sizes)


@task(4, after="fresh_cache")
def test_own_tensors(learner, rng):
    """What the cache holds is its own: nobody's later writing changes it, and no append changes what was read."""
    for num_sinks, window, before, tokens in ((2, 4, 0, 3), (0, 3, 0, 3), (0, 3, 2, 5), (2, 3, 4, 2), (1, 2, 0, 6)):
        cache, (keys, values) = learner.StreamingCache(num_sinks, window), text(rng, 1, 2, 2, before + tokens)
        if before:
            cache.append(keys[:, :, :before], values[:, :, :before])
        chunk = [held_tensor(learner, tensor[:, :, before:].contiguous()) for tensor in (keys, values)]
        cache.append(*chunk)
        for given in chunk:
            given.zero_()
        places = kept(before + tokens, num_sinks, window)
        what = "after the caller wrote into the tensors that were appended"
        expect(cache.keys.read(), keys[:, :, places], f"cache.keys {what}")
        expect(cache.values.read(), values[:, :, places], f"cache.values {what}")
    for sizes, lengths in (((2, 3), (4, 2, 1, 3)), ((0, 2), (1, 1, 1, 1)), ((1, 5), (2, 2, 1, 2))):
        keys, values = text(rng, 1, 2, 2, sum(lengths))
        cache = streamed(learner, *sizes, keys[:, :, : -lengths[-1]], values[:, :, : -lengths[-1]], lengths[:-1])
        read = cache.keys.read(kept=True), cache.values.read(kept=True)
        places = kept(sum(lengths[:-1]), *sizes)
        cache.append(keys[:, :, -lengths[-1] :], values[:, :, -lengths[-1] :])
        for one, whole, name in zip(read, (keys, values), ("keys", "values"), strict=True):
            expect(one.read(), whole[:, :, places], f"cache.{name} as read before an append, looked at after it,")


# Task 5


@task(5, after="fresh_cache")
def test_fresh_streaming(learner, rng):
    """It is attention to the kept tokens, all rotated by their place in the cache, for any base."""
    for num_sinks, window, (B, H, h), lengths, base in STREAMS:
        keys, values = text(rng, B, H, h, sum(lengths))
        cache = streamed(learner, num_sinks, window, keys, values, lengths)
        query, places = 2 * rng.strided(B, H, 1, h), kept(sum(lengths), num_sinks, window)
        got = learner.streaming_attention(query, cache, *((base,) if base != 1e4 else ()))
        expected = attention_by_place(query, keys[:, :, places], values[:, :, places], base)
        expect(got, expected.float(), tolerance=1e-4)


# All tasks


@task(5, each={"sink_softmax": "fresh_sink_softmax", "SinkAttention": "fresh_attention"})
def test_gradients(learner, reference, rng):
    """Gradients flow back to scores and sinks, to the layer's input and to its parameters, and are correct."""
    scores = hidden_somewhere(rng, rng.randn(2, 3, 4, 5))
    same_gradients(learner.sink_softmax, reference.sink_softmax, scores, rng.randn(3))
    mine, theirs = twins(learner, reference, rng, 3, 4, 2, 3)
    same_gradients(mine, theirs, rng.randn(2, 5, 3))


@task(5, after="fresh_streaming")
def test_gradients_through_the_cache(learner, rng):
    """Gradients of streaming_attention flow back to the query and to the kept keys and values, whenever appended."""
    num_sinks, window, lengths = 2, 3, (3, 4, 1)
    keys, values = text(rng, 2, 2, 4, sum(lengths))
    cotangent, chunks = rng.randn(2, 2, 1, 4), list(zip(keys.split(lengths, 2), values.split(lengths, 2), strict=True))
    cache, query = (
        learner.StreamingCache(num_sinks, window),
        held_tensor(learner, rng.randn(2, 2, 1, 4).requires_grad_()),
    )
    appended = [[held_tensor(learner, tensor.clone().requires_grad_()) for tensor in chunk] for chunk in chunks]
    for chunk in appended:
        cache.append(*chunk)
    result = learner.streaming_attention(query, cache, kept=True)
    got = result.read()
    expect_shape(got, (2, 2, 1, 4))
    if not got.facts["requires_grad"]:
        raise Mismatch("the result has no path back to the query, nor to the keys and values that were appended")
    result.mul(cotangent, kept=True).sum(kept=True).backward()
    leaves = [tensor.double().requires_grad_() for tensor in (query.read().detach(), keys, values)]
    places = kept(sum(lengths), num_sinks, window)
    truth = attention_by_place(leaves[0], leaves[1][:, :, places], leaves[2][:, :, places], 10_000.0)
    expected = torch.autograd.grad(truth, leaves, cotangent.double())
    has_gradient(query, expected[0], "the query")
    for number, chunk in reversed(list(enumerate(appended))):
        of_chunk = [gradient.split(lengths, dim=2)[number] for gradient in expected[1:]]
        has_gradient(chunk[0], of_chunk[0], f"the keys of append {number + 1} of {len(lengths)}")
        has_gradient(chunk[1], of_chunk[1], f"the values of append {number + 1} of {len(lengths)}")


def has_gradient(leaf, expected: torch.Tensor, what: str) -> None:
    """A held tensor has this gradient; none where it should be 0 is right, too."""
    got = leaf.grad.read()
    if got is None and bool(expected.any()):
        raise Mismatch(f"no gradient reaches {what}")
    if got is not None:
        expect(got, expected.float(), f"the gradient of {what}", tolerance=1e-4)


@task(5, each=ALL)
def test_dtype_and_device(learner, reference, rng):
    """float64 is computed in float64; sink_softmax and the layer work on other devices, too."""
    double = {"dtypes": (torch.float64,)}
    scores, sinks = 1e4 + rng.randn(2, 3, 4, 5, dtype=torch.float64), 1e4 + rng.randn(3, dtype=torch.float64)
    expect(learner.sink_softmax(scores, sinks), weights_with_sink(scores, sinks))
    keeps_device(learner.sink_softmax, rng.randn(2, 3, 4, 5), rng.randn(3))
    mine, theirs = twins(learner, reference, rng, 3, 4, 2, 3)
    keeps_dtype(mine, theirs, 30 * rng.randn(2, 5, 3), **double)
    mine, _ = twins(learner, reference, rng, 3, 4, 2, 3)
    keeps_device(mine, rng.randn(2, 5, 3))
    keys, values = (tensor.double() + 1e-9 for tensor in text(rng, 2, 2, 4, 9))
    cache = streamed(learner, 2, 3, keys, values, (4, 4, 1))
    places = kept(9, 2, 3)
    for name, whole in (("keys", keys), ("values", values)):
        got = getattr(cache, name).read()
        expect(got, whole[:, :, places], f"cache.{name} in float64", tolerance=1e-12)
    even = learner.streaming_attention(torch.zeros(2, 2, 1, 4, dtype=torch.float64), cache)
    expect(even, values[:, :, places].mean(dim=2, keepdim=True), "the result in float64", tolerance=1e-12)


@task(5, each=ALL)
def test_inputs_unchanged(learner, reference, rng):
    """Your functions don't change what they are given, and calling them twice gives the same result."""
    keeps_inputs(learner.sink_softmax, hidden_somewhere(rng, rng.randn(2, 3, 4, 5)), rng.randn(3))
    mine, theirs = twins(learner, reference, rng, 3, 4, 2, 3)
    keeps_inputs(mine, rng.randn(2, 5, 3))
    expect(mine.parameters(), theirs.parameters(), "the parameters after the calls")
    keys, values = text(rng, 1, 2, 4, 9)
    cache = streamed(learner, 2, 3, keys[:, :, :7], values[:, :, :7], (4, 3))
    _, (after, _) = cache.append.with_inputs(keys[:, :, 7:], values[:, :, 7:])
    expect(after, [keys[:, :, 7:], values[:, :, 7:]], "the keys and values that were appended")
    keeps_inputs(learner.streaming_attention, rng.randn(1, 2, 1, 4), cache)
    places = kept(9, 2, 3)
    expect(cache.keys.read(), keys[:, :, places], "cache.keys after streaming_attention")
    expect((len(cache), cache.num_seen.read()), (5, 9), "(len(cache), num_seen) after streaming_attention")


@task(5, each=ALL | {"kept_positions": "fresh_positions"})
def test_argument_names(learner, rng):
    """Arguments have the names used in the lesson."""
    learner.sink_softmax(scores=rng.randn(1, 2, 3, 3), sinks=rng.randn(2))
    learner.SinkAttention(d_in=3, d_out=4, num_heads=2, window=3)(x=rng.randn(1, 5, 3))
    learner.kept_positions(num_seen=5, num_sinks=1, window=2)
    cache = learner.StreamingCache(num_sinks=1, window=2)
    cache.append(keys=rng.randn(1, 2, 3, 4), values=rng.randn(1, 2, 3, 4))
    learner.streaming_attention(query=rng.randn(1, 2, 1, 4), cache=cache, rope_theta=100.0)


@task(4, after="fresh_cache")
def test_memory(learner, rng, steady_memory):
    """1,000 appends of 8 tokens let the process grow by less than 4 MiB."""
    keys, values = text(rng, 1, 4, 64, 8)
    with steady_memory(learner, "1,000 appends", mebibytes=4) as begin:
        cache = learner.StreamingCache(4, 60)
        cache.append(keys, values, times=100)
        begin()
        cache.append(keys, values, times=1000)
        expect(len(cache), 64, "len(cache) after 1,100 appends")
