"""Hidden checks: fresh inputs against the formula in float64, with complex numbers for the rotation; a step's work.

Caches that are handed over are true ones: one error is shown once.
"""

import math

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
    refuses,
    same_gradients,
    task,
)

# (B, T) and (d_in, H, head_dim, d_latent, d_rope). Each number is above and below the others somewhere.
SIZES = (
    ((2, 6), (5, 3, 4, 3, 2)),
    ((1, 4), (3, 2, 2, 5, 4)),
    ((3, 3), (4, 1, 3, 2, 6)),
    ((2, 5), (8, 4, 2, 6, 2)),
    ((1, 1), (2, 2, 1, 1, 2)),
    ((2, 9), (3, 2, 5, 4, 4)),
)
COUNTED = (16, 4, 16, 32, 8)  # sizes of the layer whose work is counted
LONG = 1024  # tokens in its cache
FAR = 4_200  # tokens in a cache: more than a table of angles is often made for
FRESH = ("fresh_attention", "token_by_token")
ABSORBED = "fresh_absorbed_step"


def shapes(d_in: int, heads: int, head_dim: int, d_latent: int, d_rope: int) -> dict[str, tuple[int, int]]:
    """The shapes of the parameters, by name."""
    inner = heads * head_dim
    return {
        "q_proj.weight": (heads * (head_dim + d_rope), d_in),
        "kv_down.weight": (d_latent, d_in),
        "k_rope.weight": (d_rope, d_in),
        "k_up.weight": (inner, d_latent),
        "v_up.weight": (inner, d_latent),
        "out_proj.weight": (d_in, inner),
    }


def random_state(rng, *sizes: int) -> dict[str, torch.Tensor]:
    """Random parameters whose scores differ clearly."""
    return {name: 1.5 * rng.randn(*shape) / shape[1] ** 0.5 for name, shape in shapes(*sizes).items()}


def turned(x: torch.Tensor, theta: float) -> torch.Tensor:
    """x (…, T, d_rope) with its pairs as complex numbers, each turned by its token's angle from position 0 on."""
    half = x.shape[-1] // 2
    speeds = theta ** (-2 * torch.arange(half, dtype=torch.float64) / x.shape[-1])
    angles = torch.arange(x.shape[-2], dtype=torch.float64)[:, None] * speeds
    pairs = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([pairs.real, pairs.imag], dim=-1)


def exact(x: torch.Tensor, state, sizes, theta: float = 10_000.0) -> tuple[torch.Tensor, torch.Tensor]:
    """The formula in float64: the output for all tokens and the cache of all, as float32."""
    _, heads, head_dim, _, d_rope = sizes
    product = lambda inputs, name: inputs @ state[f"{name}.weight"].double().T  # noqa: E731
    cut = lambda numbers: numbers.unflatten(-1, (heads, -1)).transpose(1, 2)  # noqa: E731
    x = x.double()
    queries, latent = cut(product(x, "q_proj")), product(x, "kv_down")
    turned_key = turned(product(x, "k_rope"), theta)
    keys, values = cut(product(latent, "k_up")), cut(product(latent, "v_up"))
    scores = queries[..., :head_dim] @ keys.mT + turned(queries[..., head_dim:], theta) @ turned_key.mT[:, None]
    scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf) / (head_dim + d_rope) ** 0.5
    output = product((torch.softmax(scores, dim=-1) @ values).transpose(1, 2).flatten(-2), "out_proj")
    return output.float(), torch.cat([latent, turned_key], dim=-1).float()


def output_of(answer):
    """The output in an answer. Raises Mismatch where it has no cache beside it."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Mismatch("the result is not a tuple of the output and the cache")
    return answer[0]


def expect_both(answer, output: torch.Tensor, cache: torch.Tensor) -> None:
    expect(output_of(answer), output, "the output")
    expect(answer[1], cache, "the cache")


def goes_on(layer, x: torch.Tensor, truth, start: int, end: int) -> None:
    """Fed tokens start … end − 1 and the true cache of those before, the layer gives their output and all the cache."""
    output, cache = truth
    past = (cache[:, :start],) * (start > 0)  # not row by row in memory
    expect_both(layer(x[:, start:end], *past), output[:, start:end], cache[:, :end])


def what_is_made(record) -> str:
    """Keys, values or both, by what becomes of them: keys are multiplied to scores, values to a mix."""
    _, heads, head_dim, *_ = COUNTED
    tokens = LONG + 1
    made = [step for step in record if tokens * heads * head_dim in map(math.prod, step.input_shapes)]
    results = {math.prod(shape) for step in made for shape in step.output_shapes}
    names = {heads * tokens: "keys", heads * head_dim: "values"}
    return " and ".join(name for size, name in names.items() if size in results) or "keys or values"


# Task 1


@task(1)
def test_fresh_cache_numbers(learner, rng):
    """cache_numbers is right for all four kinds, and takes no notice of what a kind does not need."""
    for _ in range(2):
        heads, groups, head_dim, latent, rope = (rng.integer(2, 40) for _ in range(5))
        numbers = {"gqa": 2 * groups * head_dim, "mla": latent + rope, "mha": 2 * heads * head_dim, "mqa": 2 * head_dim}
        for kind, count in numbers.items():
            got = learner.cache_numbers(kind, heads, groups, head_dim, latent, rope)
            expect(got, count, "the number of numbers")
            if type(got) is not int:
                raise Mismatch("cache_numbers gives another kind of number; expected an int")


@task(1)
def test_unknown_kind(learner):
    """Raises ValueError for a kind that is none of the four."""
    learner.cache_numbers("mha", 2, 2, 4, 8, 2)
    for kind in ("mlp", "latent", "", "MHA"):
        refuses(ValueError, learner.cache_numbers, kind, 2, 2, 4, 8, 2)


# Task 2


@task(2)
def test_parameters(learner):
    """The parameters are those of the lesson and no others: six matrices, and no biases."""
    has_parameters(learner.LatentAttention(4, 3, 2, 5, 2), shapes(4, 3, 2, 5, 2))
    has_parameters(learner.LatentAttention(3, 2, 5, 2, 4), shapes(3, 2, 5, 2, 4))


@task(2)
def test_fresh_attention(learner, rng):
    """Without a cache, the output is that of the formula, for any sizes and any rope_theta."""
    for (batch, tokens), sizes in SIZES:
        state, x = random_state(rng, *sizes), rng.randn(batch, tokens, sizes[0])
        output = output_of(learner.LatentAttention(*sizes, state=state)(x))
        expect(output, exact(x, state, sizes)[0], "the output")
    sizes = (4, 2, 3, 5, 6)
    layer = learner.LatentAttention(*sizes, 50.0, state=(state := random_state(rng, *sizes)))
    for tokens in (3, 1, 7):
        x = rng.strided(2, tokens, 4)
        x[0, tokens // 2] = 0.0  # a token like others
        expect(output_of(layer(x, None)), exact(x, state, sizes, 50.0)[0], "the output")


@task(2)
def test_cache_contents(learner, rng):
    """The cache holds each token's latent vector and behind it its rotated key, and nothing else."""
    for (batch, tokens), sizes in SIZES[:4]:
        state, x = random_state(rng, *sizes), rng.randn(batch, tokens, sizes[0])
        answer = learner.LatentAttention(*sizes, state=state)(x)
        output_of(answer)
        expect(answer[1], exact(x, state, sizes)[1], "the cache")


# Task 3


@task(3, after="fresh_attention")
def test_token_by_token(learner, rng):
    """Fed one token at a time, each with the cache of those before, the output is the same as all at once."""
    for (batch, tokens), sizes in SIZES[:3]:
        state, x = random_state(rng, *sizes), rng.randn(batch, tokens, sizes[0])
        layer, truth = learner.LatentAttention(*sizes, state=state), exact(x, state, sizes)
        for start in reversed(range(0, tokens)):  # so that no cache tells an answer before it
            goes_on(layer, x, truth, start, start + 1)
    sizes = (3, 2, 2, 3, 2)
    layer = learner.LatentAttention(*sizes, state=random_state(rng, *sizes))
    output = output_of(layer(rng.randn(1, 1, 3), rng.randn(1, FAR, 5)))
    expect_shape(output, (1, 1, 3), f"the output after {FAR:,} tokens")


@task(3, after="fresh_attention")
def test_chunks(learner, rng):
    """Fed in chunks of any length, the output is the same as all at once, also with the cache that the layer gave."""
    sizes = (4, 3, 2, 5, 4)
    state, x = random_state(rng, *sizes), rng.randn(2, 12, 4)
    layer, truth = learner.LatentAttention(*sizes, state=state), exact(x, state, sizes)
    for start, end in ((9, 12), (3, 5), (1, 9), (2, 4)):  # the longest cache first: none tells an answer before it
        goes_on(layer, x, truth, start, end)
    past, outputs = (), []
    for start, end in ((0, 4), (4, 5), (5, 9), (9, 12)):
        answer = layer(x[:, start:end], *past)
        expect_both(answer, truth[0][:, start:end], truth[1][:, :end])
        past = (answer[1],)
        outputs.append(answer[0])
    expect(torch.cat(outputs, dim=1), truth[0], "the output of all chunks")


@task(3, after="fresh_attention")
def test_cache_unchanged(learner, rng):
    """The cache passed in is never changed, and all that the layer knows of the past is in it."""
    sizes = (4, 2, 3, 4, 2)
    state, texts = random_state(rng, *sizes), [rng.randn(2, 6, 4) for _ in range(2)]
    layer, truths = learner.LatentAttention(*sizes, state=state), [exact(x, state, sizes) for x in texts]
    for ask in (layer, layer.absorbed_step):
        past = truths[0][1][:, :5].contiguous()
        _, ((_, after), _) = ask.with_inputs(texts[0][:, 5:], past)
        expect(after, past, "the cache after the call")
    for start, end in ((3, 6), (2, 3), (0, 2)):  # two texts in turn, the longest cache first
        for x, truth in zip(texts, truths, strict=True):
            goes_on(layer, x, truth, start, end)


# Task 4


@task(4)
def test_fresh_absorbed_step(learner, rng):
    """absorbed_step gives the output and the cache that forward gives for one new token, after any number of tokens."""
    for (batch, tokens), sizes in SIZES:
        state, x = random_state(rng, *sizes), rng.randn(batch, tokens + 1, sizes[0])
        layer, truth = learner.LatentAttention(*sizes, state=state), exact(x, state, sizes)
        goes_on(layer.absorbed_step, x, truth, tokens, tokens + 1)
    sizes = (4, 3, 2, 3, 4)
    state, x = random_state(rng, *sizes), rng.randn(2, 5, 4)
    layer, truth = learner.LatentAttention(*sizes, 30.0, state=state), exact(x, state, sizes, 30.0)
    for start in (4, 2, 1):
        goes_on(layer.absorbed_step, x, truth, start, start + 1)


@task(4, after=ABSORBED)
def test_absorbed_work(learner, rng):
    """absorbed_step makes no keys and no values: no tensor is as large as those, and it takes fewer multiplications."""
    d_in, heads, head_dim, d_latent, d_rope = COUNTED
    layer = learner.LatentAttention(*COUNTED, state=random_state(rng, *COUNTED))
    record = layer.absorbed_step.operations(rng.randn(1, 1, d_in), rng.randn(1, LONG, d_latent + d_rope))
    if multiply_adds(record) < LONG * heads * (2 * d_latent + d_rope):  # scores, and the mix of latent vectors
        raise Mismatch("absorbed_step gives a result without computing it")
    if multiply_adds(record) >= LONG * heads * head_dim * d_latent:
        details = f"counted {multiply_adds(record):,} multiplications for {LONG:,} tokens; "
        details += f"keys or values take {LONG * heads * head_dim * d_latent:,}"
        raise Mismatch(f"absorbed_step makes {what_is_made(record)} of all tokens, by their multiplications", details)
    if largest_tensor(record) >= LONG * heads * head_dim:
        details = f"the largest tensor holds {largest_tensor(record):,} numbers; "
        details += f"less than {LONG * heads * head_dim:,} are allowed"
        raise Mismatch("absorbed_step makes a tensor that is as large as the keys of all heads", details)


# All tasks


@task(3)
def test_no_look_ahead(learner, rng):
    """Within a chunk, the output of a token does not change when later tokens change, even if all scores are 0."""
    sizes = (3, 2, 2, 3, 2)
    for zero in ((), ("q_proj.weight",)):
        state = random_state(rng, *sizes)
        state |= {name: 0 * state[name] for name in zero}
        layer, x = learner.LatentAttention(*sizes, state=state), rng.randn(2, 5, 3)
        past = exact(rng.randn(2, 2, 3), state, sizes)[1]
        later = torch.cat([x[:, :3], rng.randn(2, 2, 3)], dim=1)
        before, after = (output_of(layer(chunk, past)) for chunk in (x, later))
        for output in (before, after):
            expect_shape(output, (2, 5, 3), "the output")
        expect(after[:, :3], before[:, :3], "the output of the first 3 tokens, now that the last 2 are others,")


@task(3)
def test_large_scores(learner):
    """Scores of ±10,000 give no NaN, with a cache, without one, and in absorbed_step."""
    sizes = (2, 1, 1, 1, 2)
    state = {name: torch.zeros(shape) for name, shape in shapes(*sizes).items()}
    state["q_proj.weight"][0, 0] = 100 * math.sqrt(3)
    state["kv_down.weight"][0, 1] = state["v_up.weight"][0, 0] = state["out_proj.weight"][0, 0] = 1.0
    state["k_up.weight"][0, 0] = 100.0
    x = torch.tensor([[1.0, 1.0], [1.0, 0.5], [1.0, -0.5], [-1.0, -1.0]])[None]  # the last one asks the other way round
    layer, truth = learner.LatentAttention(*sizes, state=state), exact(x, state, sizes)
    goes_on(layer, x, truth, 0, 4)
    goes_on(layer, x, truth, 1, 3)
    goes_on(layer.absorbed_step, x, truth, 3, 4)


def twins(learner, reference, rng):
    """The learner's layer and the solution's, with the same random parameters, and a cache of three tokens."""
    sizes = (3, 2, 4, 3, 2)
    state = random_state(rng, *sizes)
    past = exact(rng.randn(2, 3, 3), state, sizes)[1]
    return *(one.LatentAttention(*sizes, state=state) for one in (learner, reference)), past


@task(3, after=FRESH)
def test_gradients(learner, reference, rng):
    """Gradients flow back to the new tokens, through the cache, and to every parameter, and they are correct."""
    mine, theirs, past = twins(learner, reference, rng)
    same_gradients(mine, theirs, rng.randn(2, 4, 3))
    same_gradients(mine, theirs, rng.randn(2, 2, 3), past)
    same_gradients(mine.absorbed_step, theirs.absorbed_step, rng.randn(2, 1, 3), past)


@task(3, after=FRESH)
def test_dtype_and_device(learner, reference, rng):
    """Works in float64 and on other devices: output and cache keep the dtype and device of the input."""
    mine, theirs, past = twins(learner, reference, rng)
    x = rng.randn(2, 2, 3)
    mine(x, past)  # a call before the move
    keeps_dtype(mine, theirs, x, past, dtypes=(torch.float64,))
    step = x[:, :1].double(), past.double()
    expect(mine.absorbed_step(*step), theirs.absorbed_step(*step))
    mine.to(dtype=torch.float32)
    moved, _, past = twins(learner, reference, rng)
    moved.to(device="meta")
    answer = moved.absorbed_step.on("meta", x[:, :1], past)
    expect_shape(output_of(answer), (2, 1, 3), "the output for inputs on another device")
    keeps_device(mine, x, past)
    expect_shape(output_of(mine.on("meta", x)), (2, 2, 3), "the output for inputs on another device")


@task(4, after=FRESH)
def test_inputs_unchanged(learner, reference, rng):
    """Calling the layer twice gives the same result, and neither inputs nor parameters are modified."""
    mine, theirs, past = twins(learner, reference, rng)
    keeps_inputs(mine, rng.randn(2, 4, 3))
    keeps_inputs(mine, rng.randn(2, 2, 3), past)
    keeps_inputs(mine.absorbed_step, rng.randn(2, 1, 3), past)
    expect(mine.parameters(), theirs.parameters(), "the parameters after the calls")


@task(4, each={"LatentAttention": FRESH, "cache_numbers": "fresh_cache_numbers"})
def test_argument_names(learner, rng):
    """Arguments have the names used in the lesson."""
    learner.cache_numbers(kind="mqa", num_heads=2, num_kv_heads=1, head_dim=4, d_latent=8, d_rope=2)
    sizes = {"d_in": 3, "num_heads": 2, "head_dim": 2, "d_latent": 4, "d_rope": 2}
    layer = learner.LatentAttention(**sizes, rope_theta=100.0)
    layer(x=rng.randn(2, 4, 3), cache=None)
    layer.absorbed_step(x=rng.randn(2, 1, 3), cache=rng.randn(2, 3, 6))
