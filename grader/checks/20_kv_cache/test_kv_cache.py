"""Hidden checks: fresh inputs against exercise 13 in float64, fed at once, in chunks and token by token.

The work of one token is counted in what torch ran. Caches that are handed over are true ones: one error is shown once.
"""

import torch

from grader.authors import (
    Mismatch,
    expect,
    expect_shape,
    has_parameters,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    largest_tensor,
    multiply_adds,
    same_gradients,
    task,
    work_grows_less_than,
)

# (B, T, d_in, d_out, num_heads). Each number is above and below the others somewhere.
SIZES = ((2, 7, 15, 18, 3), (3, 4, 2, 8, 2), (5, 2, 4, 4, 4), (2, 12, 4, 6, 2), (3, 3, 9, 9, 3), (1, 1, 3, 2, 1))
NAMES = ("W_query", "W_key", "W_value")
FAR = 4_200  # tokens in a cache: more than a mask of a fixed size is for
FRESH = ("fresh_attention", "token_by_token")


def random_state(rng, d_in: int, d_out: int, heads: int = 0) -> dict[str, torch.Tensor]:
    """Random parameters whose scores differ clearly."""
    state = {f"{name}.weight": rng.randn(d_out, d_in) / d_in**0.5 for name in NAMES}
    return state | {"out_proj.weight": rng.randn(d_out, d_out) / d_out**0.5, "out_proj.bias": rng.randn(d_out) / 2}


def exact(x: torch.Tensor, state, heads: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Exercise 13, computed in float64: output, keys and values as float32."""
    state = {name: value.double() for name, value in state.items()}
    queries, keys, values = (
        (x.double() @ state[f"{name}.weight"].T).unflatten(-1, (heads, -1)).transpose(1, 2) for name in NAMES
    )
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)
    context = (torch.softmax(scores, dim=-1) @ values).transpose(1, 2).flatten(-2)
    output = context @ state["out_proj.weight"].T + state["out_proj.bias"]
    return output.float(), keys.float(), values.float()


def last_of_many(x: torch.Tensor, state, past) -> torch.Tensor:
    """The output for one token after those of a cache of one head, computed in float64 without a table of scores."""
    query, key, value = (x.double() @ state[f"{name}.weight"].double().T for name in NAMES)
    keys, values = (torch.cat([old[:, 0].double(), new], dim=1) for old, new in zip(past, (key, value), strict=True))
    context = torch.softmax(query @ keys.mT / keys.shape[-1] ** 0.5, dim=-1) @ values
    return (context @ state["out_proj.weight"].double().T + state["out_proj.bias"].double()).float()


def output_of(answer):
    """The output in an answer. Raises Mismatch where it has no cache beside it."""
    if type(answer) is not tuple or len(answer) != 2:
        raise Mismatch("the result is not a tuple of the output and the cache")
    return answer[0]


def goes_on(layer, x: torch.Tensor, truth, start: int, end: int) -> None:
    """Fed tokens start … end − 1 and the true cache of those before, the layer gives their output and all the cache."""
    output, keys, values = truth
    past = ((keys[:, :, :start], values[:, :, :start]),) * (start > 0)
    expect(layer(x[:, start:end], *past), (output[:, start:end], (keys[:, :, :end], values[:, :, :end])))


# Task 1


@task(1)
def test_parameters(learner):
    """Your layer has the parameters in the lesson and no others: only out_proj has a bias."""
    shapes = {f"{name}.weight": (6, 4) for name in NAMES} | {"out_proj.weight": (6, 6), "out_proj.bias": (6,)}
    one, two = learner.CachedAttention(4, 6, 3), learner.CachedAttention(4, 6, 2)
    has_parameters(one, shapes)
    has_parameters(two, shapes)
    values = [value for layer in (one, two) for value in layer.parameters().values() if value.ndim == 2]
    if any(torch.equal(one, two) for index, one in enumerate(values) for two in values[:index]):
        raise Mismatch("two weight matrices hold the same numbers: draw each one separately, and set no seed yourself")


@task(1)
def test_fresh_attention(learner, rng):
    """Without a cache, the output is that of multi-head attention."""
    for batch, tokens, *sizes in SIZES:
        state, x = random_state(rng, *sizes), rng.randn(batch, tokens, sizes[0])
        output = output_of(learner.CachedAttention(*sizes, state=state)(x))
        expect(output, exact(x, state, sizes[2])[0], "the output")
    layer = learner.CachedAttention(4, 6, 2, state=(state := random_state(rng, 4, 6)))
    for tokens in (3, 1, 7):
        x = rng.strided(2, tokens, 4)
        x[0, tokens // 2] = 0.0  # a token like others
        expect(output_of(layer(x, None)), exact(x, state, 2)[0], "the output")


@task(1, after="fresh_attention")
def test_cache_contents(learner, rng):
    """The cache holds the keys and values of all tokens, head by head and unscaled, as a tuple of two."""
    for batch, tokens, *sizes in SIZES[:4]:
        state, x = random_state(rng, *sizes), rng.randn(batch, tokens, sizes[0])
        answer = learner.CachedAttention(*sizes, state=state)(x)
        output_of(answer)
        expect(answer[1], exact(x, state, sizes[2])[1:], "the cache")


# Task 2


@task(2, after="fresh_attention")
def test_token_by_token(learner, rng):
    """Fed one token at a time, each with the cache so far, the layer gives the same output as all at once."""
    for batch, tokens, *sizes in SIZES[:4]:
        state, x = random_state(rng, *sizes), rng.randn(batch, tokens, sizes[0])
        layer, truth = learner.CachedAttention(*sizes, state=state), exact(x, state, sizes[2])
        for start in reversed(range(0, tokens, 1 if tokens < 9 else 5)):  # so that no cache tells an answer before it
            goes_on(layer, x, truth, start, start + 1)
    state, past = random_state(rng, 2, 2), tuple(rng.randn(1, 1, FAR, 2) for _ in range(2))
    answer = learner.CachedAttention(2, 2, 1, state=state)(x := rng.randn(1, 1, 2), past)
    expect(output_of(answer), last_of_many(x, state, past), f"the output after {FAR:,} tokens")


@task(2, after="fresh_attention")
def test_chunks(learner, rng):
    """Fed in chunks of any length, the layer gives the same output as all at once, even from its own cache."""
    state, x = random_state(rng, 4, 6), rng.randn(2, 12, 4)
    layer, truth = learner.CachedAttention(4, 6, 3, state=state), exact(x, state, 3)
    for start, end in ((9, 12), (3, 5), (1, 9), (2, 4)):  # the longest cache first: none tells an answer before it
        goes_on(layer, x, truth, start, end)
    past, outputs = None, []
    for start, end in ((0, 4), (4, 5), (5, 9), (9, 12)):
        answer = layer(x[:, start:end], past)
        expect(answer, (truth[0][:, start:end], tuple(part[:, :, :end] for part in truth[1:])))
        past = answer[1]
        outputs.append(answer[0])
    expect(torch.cat(outputs, dim=1), truth[0], "the output of all chunks")


@task(2, after="token_by_token")
def test_one_token_work(learner, rng):
    """One new token doesn't cost a second full pass, whether at token 64 or at token 2,048."""
    heads, size = 4, 32
    layer, records = learner.CachedAttention(size, size, heads), []
    for tokens in (64, 2048):
        past = tuple(rng.randn(1, heads, tokens - 1, size // heads) for _ in range(2))
        records.append(layer.operations(rng.randn(1, 1, size), past))
    short, long = records
    if multiply_adds(long) < 4 * size**2 + 2 * size * 2048:  # four projections, scores, the mix of values
        raise Mismatch("a result is given without computing it")
    if largest_tensor(long) >= heads * 2048**2:
        raise Mismatch("for one new token the scores of all tokens with all tokens are computed: one row is needed")
    if largest_tensor(long) >= 2048**2:
        raise Mismatch("for one new token a tensor of all tokens by all tokens is made: one row of it is needed")
    # Scores and values are 2 · size for each past token; projecting it again would be 2 · size².
    work_grows_less_than(16 * size * (2048 - 64), short, long, "one new token")
    if len(long) - len(short) > (2048 - 64) / 2:
        raise Mismatch("the number of operations for one new token grows with every past token")


@task(2, after="fresh_attention")
def test_cache_unchanged(learner, rng):
    """You never change the cache that comes in, so two texts can continue from the same one."""
    state, x = random_state(rng, 4, 6), rng.randn(2, 6, 4)
    layer = learner.CachedAttention(4, 6, 2, state=state)
    for start in (5, 3):
        past = tuple(part[:, :, :start].contiguous() for part in exact(x, state, 2)[1:])
        _, ((_, after), _) = layer.with_inputs(x[:, start:], past)
        expect(after, past, "the cache after the call")
    before = output_of(layer(x[:, 3:], past))
    for _ in range(2):
        output_of(layer(rng.randn(2, 3, 4), past))
    after = output_of(layer(x[:, 3:], past))
    expect(after, before, "the output for the first text, now that another one went on from the same cache,")


@task(2, after="fresh_attention")
def test_two_texts(learner, rng):
    """All that the layer knows of the past is the cache it gets, so you can feed two texts in turn."""
    state, texts = random_state(rng, 3, 4), [rng.randn(2, 5, 3) for _ in range(2)]
    layer, truths = learner.CachedAttention(3, 4, 2, state=state), [exact(x, state, 2) for x in texts]
    for start, end in ((3, 5), (2, 3), (0, 2)):  # the longest cache first: none tells an answer before it
        for x, truth in zip(texts, truths):
            goes_on(layer, x, truth, start, end)
    goes_on(layer, texts[0], truths[0], 0, 4)
    kept = [layer(x[:, :3], kept=True)[1] for x in texts]  # the layer's own, as they are
    for x, own, (output, _, _) in zip(texts, kept, truths):
        expect(output_of(layer(x[:, 3:], own)), output[:, 3:], "the output for a text, after another one was fed,")


@task(2, after=FRESH)
def test_no_look_ahead(learner, rng):
    """Within a chunk, no output changes when later tokens change, even if every score is 0."""
    for zero in ((), ("W_key.weight",), ("W_query.weight",)):
        state = random_state(rng, 3, 4)
        layer = learner.CachedAttention(3, 4, 2, state=state | {name: 0 * state[name] for name in zero})
        x = rng.randn(2, 5, 3)
        past = exact(rng.randn(2, 2, 3), state | {name: 0 * state[name] for name in zero}, 2)[1:]
        later = torch.cat([x[:, :3], rng.randn(2, 2, 3)], dim=1)
        before, after = (output_of(layer(chunk, past)) for chunk in (x, later))
        expect_shape(before, (2, 5, 4), "the output")
        expect_shape(after, (2, 5, 4), "the output")
        expect(after[:, :3], before[:, :3], "the output of the first 3 tokens, now that the last 2 are others,")


@task(2)
def test_large_scores(learner):
    """Very large scores (±10,000) give no NaN and no look at the future, with a cache and without."""
    x = torch.tensor([[1.0, 1.0, 3.0], [1.0, 0.5, 5.0], [1.0, -0.5, 7.0], [1.0, -1.0, 2.0]])[None]
    state = {
        "W_query.weight": torch.tensor([[100.0, 0.0, 0.0], [-100.0, 0.0, 0.0]]),
        "W_key.weight": torch.tensor([[0.0, 100.0, 0.0], [0.0, 100.0, 0.0]]),
        "W_value.weight": torch.tensor([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]),
        "out_proj.weight": torch.eye(2),
        "out_proj.bias": torch.zeros(2),
    }
    layer, truth = learner.CachedAttention(3, 2, 2, state=state), exact(x, state, 2)
    # Head 0 scores the tokens with 10,000, 5,000, −5,000, −10,000 and takes the first; head 1 the other way round.
    goes_on(layer, x, truth, 0, 4)
    goes_on(layer, x, truth, 1, 3)
    goes_on(layer, x, truth, 3, 4)


# All tasks


def twins(learner, reference, rng, *sizes):
    """The learner's layer and the solution's, with the same random parameters, and a cache of three tokens."""
    state = random_state(rng, *sizes)
    past = exact(rng.randn(2, 3, sizes[0]), state, sizes[2])[1:]
    return *(one.CachedAttention(*sizes, state=state) for one in (learner, reference)), past


@task(2, after=FRESH)
def test_gradients(learner, reference, rng):
    """Gradients flow back to the new tokens, the cache and every parameter, and they are correct."""
    mine, theirs, past = twins(learner, reference, rng, 3, 4, 2)
    same_gradients(mine, theirs, rng.randn(2, 4, 3))
    same_gradients(mine, theirs, rng.randn(2, 2, 3), past)


@task(2, after=FRESH)
def test_dtype_and_device(learner, reference, rng):
    """Output and cache keep the dtype and device of the inputs, even after you move the layer."""
    mine, theirs, past = twins(learner, reference, rng, 3, 4, 2)
    x = rng.randn(2, 2, 3)
    mine(x, past)  # a call before the move
    keeps_dtype(mine, theirs, x, past)
    keeps_dtype(mine, theirs, x)
    mine.to(dtype=torch.float32)
    keeps_device(mine, x, past)
    answer = mine.on("meta", x)
    expect_shape(answer[0], (2, 2, 4), "the output for inputs on another device")


@task(2, after=FRESH)
def test_inputs_unchanged(learner, reference, rng):
    """Calling the layer twice gives the same result, and it changes neither inputs nor parameters."""
    mine, theirs, past = twins(learner, reference, rng, 3, 4, 2)
    keeps_inputs(mine, rng.randn(2, 4, 3))
    keeps_inputs(mine, rng.randn(2, 2, 3), past)
    expect(mine.parameters(), theirs.parameters(), "the parameters after the calls")


@task(2, after=FRESH)
def test_argument_names(learner, rng):
    """Arguments have the names used in the lesson: those of the class, and x and cache of the layer."""
    state = random_state(rng, 3, 4)
    layer = learner.CachedAttention(d_in=3, d_out=4, num_heads=2, state=state)
    layer(x=rng.randn(2, 4, 3), cache=None)
    layer(x=rng.randn(2, 1, 3), cache=exact(rng.randn(2, 3, 3), state, 2)[1:])
