"""Hidden checks: fresh inputs against the formulas token by token, in float64; operations and memory are counted."""

import torch

from grader.authors import (
    Mismatch,
    expect,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    largest_tensor,
    multiply_adds,
    same_gradients,
    task,
)

FEATURES, LINEAR, STEP = "fresh_feature_map", "fresh_linear", "fresh_step"
CAUSAL, DELTA_STEP, DELTA = "fresh_causal", "fresh_delta_step", ("fresh_delta_rule", "any_chunk_delta")
# (B, H, T, h, d_v, chunk_size). Each number is above and below the others somewhere.
SIZES = ((2, 3, 7, 4, 5, 3), (1, 2, 5, 3, 2, 5), (3, 1, 6, 2, 4, 2), (2, 2, 4, 5, 1, 100), (1, 1, 1, 1, 1, 1))
CHUNKS = ((9, 1), (9, 2), (9, 9), (9, 10), (130, 64), (70, 33))
FEW, MORE, CHUNK = 512, 1_024, 256  # tokens of the two calls whose operations are counted, and of a chunk
BESIDE = 64  # MiB that are measured too: the inputs, and what torch takes when it first computes
MANY, ALLOWED = 65_536, 128 + BESIDE  # a table of MANY × MANY float32 takes 16 GiB, a state for each token 256 MiB
MANY_CAUSAL, ALLOWED_CAUSAL, WIDTH = 16_384, 96 + BESIDE, 64  # a table takes 1 GiB, a state for each token 256 MiB
STRONG = -40.0
BOTH = (torch.float64, torch.bfloat16)
DTYPES = {"gated_delta_rule": (torch.float32, torch.float64)}  # solve_triangular knows no half types


def feature(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


def attention(queries, keys, values, causal: bool = False) -> torch.Tensor:
    """The truth of tasks 2 to 4: a whole table of weights in float64."""
    weights = feature(queries.double()) @ feature(keys.double()).mT
    weights = weights.tril() if causal else weights
    return (weights / weights.sum(dim=-1, keepdim=True) @ values.double()).to(values.dtype)


def delta_rule(queries, keys, values, log_decays, betas, state=None) -> tuple[torch.Tensor, torch.Tensor]:
    """The truth of tasks 5 and 6: token by token, in float64. Outputs and the last state."""
    dtype = values.dtype
    queries, keys, values, log_decays, betas = (x.double() for x in (queries, keys, values, log_decays, betas))
    B, H, _, h = queries.shape
    state = queries.new_zeros(B, H, h, values.shape[-1]) if state is None else state.double()
    # Rows (B, H, 1, …) and columns (B, H, h, 1) of all tokens at once: a few hundred tokens are walked through.
    inputs = (queries / h**0.5)[..., None, :], keys[..., :, None], values[..., None, :]
    gates = log_decays.exp()[..., None, None], betas[..., None, None]
    outputs = []
    for query, key, value, fade, beta in zip(*(x.unbind(dim=2) for x in (*inputs, *gates)), strict=True):
        state = fade * state
        state = state + key @ (beta * (value - key.mT @ state))
        outputs.append(query @ state)
    together = torch.cat(outputs, dim=-2)
    return together.to(dtype), state.to(dtype)


def near(got, expected, share: float = 1e-4, what: str = "the result") -> None:
    """The answer is right to this share of its largest number (of each part, where it has two)."""
    if isinstance(expected, tuple):
        if not isinstance(got, (tuple, list)) or len(got) != len(expected):
            return expect(got, expected, what)
        for one, truth, name in zip(got, expected, ("the output", "the state"), strict=True):
            near(one, truth, share, name)
        return None
    return expect(got, expected, what, tolerance=share * max(1.0, float(expected.abs().max())))


def three(rng, B: int, H: int, T: int, h: int, d_v: int, T_k: int = 0) -> list[torch.Tensor]:
    """Queries, keys and values whose weights differ clearly; nothing is below −8."""
    T_k = T_k or T
    queries, keys = (2 * rng.randn(B, H, n, h) for n in (T, T_k))
    return [queries.clamp(min=-8), keys.clamp(min=-8), rng.randn(B, H, T_k, d_v)]


def five(rng, B: int, H: int, T: int, h: int, d_v: int, decay: float = 1.0) -> list[torch.Tensor]:
    """Queries, keys of lengths up to 1, values, log decays and betas."""
    keys = torch.nn.functional.normalize(rng.randn(B, H, T, h), dim=-1)
    keys = keys * (0.4 + 0.6 * rng.rand(B, H, T, 1))
    return [rng.randn(B, H, T, h), keys, rng.randn(B, H, T, d_v), -decay * rng.rand(B, H, T), rng.rand(B, H, T)]


def token(inputs: list[torch.Tensor], place: int) -> list[torch.Tensor]:
    """One token of all inputs, without the dimension of tokens."""
    return [tensor[:, :, place].contiguous() for tensor in inputs]


def a_pair(answer, what: str = "the result"):
    """The two parts of an answer. Raises Mismatch where it is no pair."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Mismatch(f"{what} is not a tuple of the output and the new state")
    return answer


# Task 1


@task(1)
def test_fresh_feature_map(learner, rng):
    """feature_map is right for any shape, below 0 and above."""
    for shape in ((7,), (3, 4), (2, 3, 4, 5), (1, 1)):
        x = 2 * rng.randn(*shape)
        expect(learner.feature_map(x), feature(x))
    x = torch.tensor([-3.0, -0.5, 0.0, 0.25, 3.0])
    expect(learner.feature_map(x), feature(x))


@task(1)
def test_far_feature_map(learner):
    """Numbers from −10,000 to 10,000 give finite features and finite gradients."""
    x = torch.tensor([-1e4, -100.0, -1.0, 0.5, 100.0, 1e4])
    expect(learner.feature_map(x), feature(x))
    same_gradients(learner.feature_map, feature, x)


# Task 2


@task(2)
def test_fresh_linear(learner, rng):
    """Every query sees every key, for any number of queries and of keys."""
    for (*sizes, _), T_k in zip(SIZES, (4, 9, 6, 5, 3), strict=True):
        inputs = three(rng, *sizes, T_k=T_k)
        near(learner.linear_attention(*inputs), attention(*inputs), 2e-5)
    inputs = [rng.strided(2, 2, 5, 3), rng.strided(2, 2, 4, 3), rng.strided(2, 2, 4, 2)]
    near(learner.linear_attention(*inputs), attention(*inputs), 2e-5)


# Task 3


def steps(inputs, state=None):
    """The truth of task 3 for one token after a state: the output and the new state."""
    query, key, value = (x.double() for x in inputs)
    query, key = feature(query), feature(key)
    sums, normalizer = key[..., None] * value[..., None, :], key
    if state is not None:
        sums, normalizer = state[0].double() + sums, state[1].double() + normalizer
    output = (query[..., None, :] @ sums)[..., 0, :] / (query * normalizer).sum(dim=-1, keepdim=True)
    return output.float(), (sums.float(), normalizer.float())


@task(3)
def test_fresh_step(learner, rng):
    """One token gives the right output and the right state, at the start and after any state."""
    for B, H, _, h, d_v, _ in SIZES:
        inputs = token(three(rng, B, H, 1, h, d_v), 0)
        expect(learner.linear_step(None, *inputs), steps(inputs))
        inputs, state = token(three(rng, B, H, 1, h, d_v), 0), (rng.randn(B, H, h, d_v), 1 + rng.rand(B, H, h))
        expect(learner.linear_step(state, *inputs), steps(inputs, state))


# Task 4


@task(4)
def test_fresh_causal(learner, rng):
    """Each token sees itself and all tokens before it, whatever the size of the chunks: 1, or larger than the text."""
    for *sizes, chunk_size in SIZES:
        inputs = three(rng, *sizes)
        near(learner.causal_linear_attention(*inputs, chunk_size), attention(*inputs, causal=True), 2e-5)
    inputs = [rng.strided(2, 2, 5, 3), rng.strided(2, 2, 5, 3), rng.strided(2, 2, 5, 2)]
    near(learner.causal_linear_attention(*inputs, 2), attention(*inputs, causal=True), 2e-5)
    for T, chunk_size in CHUNKS:
        inputs = three(rng, 1, 2, T, 3, 4)
        near(learner.causal_linear_attention(*inputs, chunk_size), attention(*inputs, causal=True))
    near(learner.causal_linear_attention(*inputs), attention(*inputs, causal=True))


@task(4, each={"linear_attention": LINEAR, "linear_step": STEP, "causal_linear_attention": CAUSAL})
def test_small_features(learner, rng):
    """Queries and keys as low as −8, whose weights are about a millionth, still share out the whole weight."""
    inputs = [rng.rand(1, 2, 5, 2) - 8, rng.rand(1, 2, 5, 2) - 8, rng.randn(1, 2, 5, 3)]
    near(learner.linear_attention(*inputs), attention(*inputs), 5e-3)
    near(learner.causal_linear_attention(*inputs, 2), attention(*inputs, causal=True), 5e-3)
    output, _ = a_pair(learner.linear_step(None, *token(inputs, 0)))
    near(output, inputs[2][:, :, 0], 5e-3, "the output of the first token")


# Task 5


@task(5)
def test_fresh_delta_step(learner, rng):
    """One token gives the right output and the right state, at the start and after any state."""
    for B, H, _, h, d_v, _ in (*SIZES, (2, 2, 1, 3, 3, 1)):
        inputs = token(five(rng, B, H, 1, h, d_v, decay=3.0), 0)
        whole = [x[:, :, None] for x in inputs]
        output, state = delta_rule(*whole)
        near(learner.gated_delta_step(None, *inputs), (output[:, :, 0], state), 2e-5)
        state = rng.randn(B, H, h, d_v)
        output, after = delta_rule(*whole, state)
        near(learner.gated_delta_step(state, *inputs), (output[:, :, 0], after), 2e-5)


# Task 6


@task(6)
def test_fresh_delta_rule(learner, rng):
    """Chunk by chunk, outputs and last state are what the steps give."""
    for *sizes, chunk_size in (*SIZES, (2, 2, 6, 3, 3, 4)):
        inputs = five(rng, *sizes)
        near(learner.gated_delta_rule(*inputs, chunk_size), delta_rule(*inputs), 2e-5)
    B, H, T, h = 2, 2, 5, 3
    inputs = [rng.strided(B, H, T, h), rng.strided(B, H, T, h) / 4, rng.strided(B, H, T, 2)]
    inputs += [-rng.strided(B, H, T).abs(), rng.strided(B, H, T).sigmoid()]
    near(learner.gated_delta_rule(*inputs, 2), delta_rule(*inputs), 2e-5)


@task(6, after="fresh_delta_rule")
def test_any_chunk_delta(learner, rng):
    """The result does not depend on the size of the chunks, which may be 1, and larger than the text."""
    for T, chunk_size in CHUNKS:
        inputs = five(rng, 1, 2, T, 3, 4, decay=0.2)
        near(learner.gated_delta_rule(*inputs, chunk_size), delta_rule(*inputs))
    near(learner.gated_delta_rule(*inputs), delta_rule(*inputs))


@task(6, after="fresh_delta_rule")
def test_state_goes_on(learner, rng):
    """A text in two parts, the state of the first one passed to the second, gives the same as the whole text."""
    inputs = five(rng, 2, 2, 11, 3, 4, decay=0.3)
    state = rng.randn(2, 2, 3, 4)
    expected = delta_rule(*inputs, state)
    near(learner.gated_delta_rule(*inputs, 4, state), expected)
    for cut in (1, 6):
        first, second = ([x[:, :, part].contiguous() for x in inputs] for part in (slice(cut), slice(cut, None)))
        output, between = a_pair(learner.gated_delta_rule(*first, 4, state))
        near((output, between), delta_rule(*first, state))
        expect(between.shape, (2, 2, 3, 4), "the shape of the state")
        near(learner.gated_delta_rule(*second, 4, between), (expected[0][:, :, cut:], expected[1]))


@task(6, after="fresh_delta_rule")
def test_equal_keys(learner, rng):
    """Keys may all be equal: in float32, and in float64 to eight digits."""
    keys = torch.nn.functional.normalize(rng.randn(1, 2, 1, 4), dim=-1).expand(1, 2, 96, 4).contiguous()
    queries, values = 4 * rng.rand(1, 2, 96, 4), 10 * rng.rand(1, 2, 96, 3)
    inputs = [queries, keys, values, torch.zeros(1, 2, 96), torch.ones(1, 2, 96)]
    near(learner.gated_delta_rule(*inputs, 64), delta_rule(*inputs))
    inputs = [x.double() for x in five(rng, 1, 2, 40, 4, 3, decay=0.5)]
    near(learner.gated_delta_rule(*inputs, 16), delta_rule(*inputs), 1e-8)


def decays(rng, T: int, kind: str) -> torch.Tensor:
    """(1, 2, T) log decays: all strong, or strong and weak ones mixed."""
    strong = torch.full((1, 2, T), STRONG)
    if kind == "strong":
        return strong
    return torch.where(rng.rand(1, 2, T) < 0.5, strong, 0.0 if kind == "none" else -0.5 * rng.rand(1, 2, T))


@task(6, after="fresh_delta_rule")
def test_strong_decays(learner, rng):
    """Decays of e to the −40 and of 1 give no inf and no NaN, in outputs, states and gradients."""
    for kind, dtype, chunk_size in (
        ("none", torch.float32, 64),
        ("mixed", torch.float64, 64),
        ("strong", torch.float32, 33),
        ("strong", torch.float64, 48),
    ):
        queries, keys, values, _, betas = five(rng, 1, 2, 96, 3, 2)
        inputs = [x.to(dtype) for x in (3 * queries, keys, 5 * values, decays(rng, 96, kind), betas)]
        share = 1e-3 if dtype == torch.float32 else 1e-8
        near(learner.gated_delta_rule(*inputs, chunk_size), delta_rule(*inputs), share)
    for name, gradient in learner.gated_delta_rule.gradients(*inputs, 64).items():
        if not gradient.isfinite().all():
            raise Mismatch(f"the gradient of {name} holds NaN or inf where decays are strong")
    single = [x.float() for x in inputs]
    single[3] = decays(rng, 96, "none")
    for name, gradient in learner.gated_delta_rule.gradients(*single, 64).items():
        if not gradient.isfinite().all():
            raise Mismatch(f"the gradient of {name} holds NaN or inf where strong and weak decays are mixed")


# All tasks

EACH = {
    "feature_map": FEATURES,
    "linear_attention": LINEAR,
    "linear_step": STEP,
    "causal_linear_attention": CAUSAL,
    "gated_delta_step": DELTA_STEP,
    "gated_delta_rule": DELTA,
}


@task(6, each=EACH)
def test_gradients(learner, reference, rng):
    """Gradients flow back to every input, the state included, and they are correct."""
    same_gradients(learner.feature_map, reference.feature_map, 2 * rng.randn(3, 4))
    inputs = three(rng, 1, 2, 7, 3, 4)
    same_gradients(learner.linear_attention, reference.linear_attention, *inputs)
    same_gradients(learner.causal_linear_attention, reference.causal_linear_attention, *inputs, 3)
    state = (rng.randn(1, 2, 3, 4), 1 + rng.rand(1, 2, 3))
    same_gradients(learner.linear_step, reference.linear_step, state, *token(inputs, 1))
    inputs, state = [x.double() for x in five(rng, 1, 2, 7, 3, 4)], rng.randn(1, 2, 3, 4).double()
    same_gradients(learner.gated_delta_step, reference.gated_delta_step, state, *token(inputs, 1))
    same_gradients(learner.gated_delta_rule, reference.gated_delta_rule, *inputs, 3, state)


@task(6, each=EACH)
def test_dtype_and_device(learner, reference, rng):
    """Works in float64 and on other devices, and but for gated_delta_rule in bfloat16: dtype and device are kept."""
    inputs, more = three(rng, 1, 2, 4, 3, 2), five(rng, 1, 2, 4, 3, 2)
    first, state = token(inputs, 0), rng.randn(1, 2, 3, 2)
    for name, *args in (
        ("feature_map", rng.randn(3, 4)),
        ("linear_attention", *inputs),
        ("linear_step", None, *first),
        ("causal_linear_attention", *inputs, 3),
        ("gated_delta_step", None, *token(more, 0)),
        ("gated_delta_rule", *more, 3),
    ):
        keeps_dtype(getattr(learner, name), getattr(reference, name), *args, dtypes=DTYPES.get(name, BOTH))
        keeps_device(getattr(learner, name), *args)
    for name, *args in (  # who is given a state makes no new one, so that the device is not asked again
        ("linear_step", (state, 1 + rng.rand(1, 2, 3)), *first),
        ("gated_delta_step", state, *token(more, 0)),
        ("gated_delta_rule", *more, 3, state),
    ):
        keeps_dtype(getattr(learner, name), getattr(reference, name), *args, dtypes=DTYPES.get(name, BOTH))


@task(6, each=EACH)
def test_inputs_unchanged(learner, rng):
    """Calling a function twice gives the same result, and nothing you pass in is modified, nor the given state."""
    inputs, more = three(rng, 1, 2, 4, 3, 2), five(rng, 1, 2, 4, 3, 2)
    keeps_inputs(learner.feature_map, rng.randn(3, 4))
    keeps_inputs(learner.linear_attention, *inputs)
    keeps_inputs(learner.linear_step, (rng.randn(1, 2, 3, 2), 1 + rng.rand(1, 2, 3)), *token(inputs, 0))
    keeps_inputs(learner.causal_linear_attention, *inputs, 2)
    keeps_inputs(learner.gated_delta_step, rng.randn(1, 2, 3, 2), *token(more, 0))
    keeps_inputs(learner.gated_delta_rule, *more, 2, rng.randn(1, 2, 3, 2))


@task(6, each=EACH)
def test_argument_names(learner, rng):
    """Arguments have the names used in the lesson."""
    inputs, more = three(rng, 1, 2, 4, 3, 2), five(rng, 1, 2, 4, 3, 2)
    names = ("queries", "keys", "values")
    whole = dict(zip(names, inputs, strict=True))
    learner.feature_map(x=rng.randn(3))
    learner.linear_attention(**whole)
    learner.causal_linear_attention(**whole, chunk_size=2)
    step = dict(zip(("query", "key", "value"), token(inputs, 0), strict=True))
    learner.linear_step(state=(rng.randn(1, 2, 3, 2), 1 + rng.rand(1, 2, 3)), **step)
    names = ("query", "key", "value", "log_decay", "beta")
    step = dict(zip(names, token(more, 0), strict=True))
    learner.gated_delta_step(state=rng.randn(1, 2, 3, 2), **step)
    names = ("queries", "keys", "values", "log_decays", "betas")
    whole = dict(zip(names, more, strict=True))
    learner.gated_delta_rule(**whole, chunk_size=2, state=rng.randn(1, 2, 3, 2))


@task(6, each={"linear_attention": LINEAR, "causal_linear_attention": CAUSAL, "gated_delta_rule": DELTA})
def test_chunk_operations(learner, rng):
    """No table of all tokens, no loop over them: in chunks, 512 more tokens add fewer than 512 operations."""
    if largest_tensor(learner.linear_attention.operations(*three(rng, 1, 1, 512, 4, 3))) >= 512**2:
        raise Mismatch(TABLE.format("linear_attention"))
    for name, draw in (("causal_linear_attention", three), ("gated_delta_rule", five)):
        short, long = (counted(getattr(learner, name), *draw(rng, 1, 1, tokens, 4, 3), CHUNK) for tokens in (FEW, MORE))
        added = computing(long) - computing(short)
        if multiply_adds(long) < 4 * MORE * 4 * 3:
            raise Mismatch(f"{name} gives a result without computing it")
        if added >= MORE - FEW:
            raise Mismatch(TOO_MANY.format(name), f"{added:,} more for {MORE - FEW:,} more tokens")
        if largest_tensor(long) >= MORE**2:
            raise Mismatch(TABLE.format(name))


TABLE = "{} makes a table of all tokens by all tokens"
TOO_MANY = "{} runs torch operations for every single token: take a whole chunk at once"
VIEWS = frozenset(
    """
    view reshape _reshape_alias _unsafe_view expand permute transpose t movedim squeeze unsqueeze flatten
    unflatten select slice narrow unbind split split_with_sizes chunk diagonal unfold as_strided alias detach lift_fresh
    """.split()  # noqa: SIM905
)


def computing(record) -> int:
    """How many operations of a record are no views."""
    return sum(operation.name not in VIEWS for operation in record)


def counted(target, *args):
    """The operations of a call. Raises Mismatch where there are too many for a record."""
    try:
        return target.operations(*args)
    except Mismatch as error:
        if "operations of torch run in one call" in error.summary:
            raise Mismatch(TOO_MANY.format(target.name), error.summary) from None
        raise


@task(2, after=LINEAR)
def test_memory(learner, rng, within_memory):
    """Beside its inputs, linear_attention takes less than 128 MiB for 65,536 tokens, and the result is right."""
    inputs = three(rng, 1, 1, MANY, 32, 32)
    got = within_memory(learner.linear_attention, *inputs, mebibytes=ALLOWED)
    expect(tuple(got.shape) if isinstance(got, torch.Tensor) else got, (1, 1, MANY, 32))
    near(got[:, :, ::4096], attention(inputs[0][:, :, ::4096], *inputs[1:]), 1e-3)


@task(4, after=CAUSAL)
def test_memory_causal(learner, rng, within_memory):
    """Beside its inputs, causal_linear_attention takes less than 96 MiB for 16,384 tokens, and the result is right."""
    inputs = three(rng, 1, 1, MANY_CAUSAL, WIDTH, WIDTH)
    got = within_memory(learner.causal_linear_attention, *inputs, mebibytes=ALLOWED_CAUSAL)
    expect(tuple(got.shape) if isinstance(got, torch.Tensor) else got, (1, 1, MANY_CAUSAL, WIDTH))
    for place in (0, 63, 64, 5_000, MANY_CAUSAL - 1):
        seen = [tensor[:, :, : place + 1] for tensor in inputs]
        near(got[:, :, place], attention(seen[0][:, :, -1:], *seen[1:])[:, :, 0], 1e-3, "the result for one token")
