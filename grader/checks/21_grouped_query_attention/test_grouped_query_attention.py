"""Hidden checks: fresh inputs against multi-head attention with expanded keys and values, in float64.

They set the parameters by name: another order of creation does not concern them.
"""

import torch

from grader.authors import (
    Mismatch,
    agrees,
    expect,
    expect_shape,
    has_parameters,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    multiply_adds,
    refuses,
    same_gradients,
    task,
)

# (B, T, d_in, d_out, num_heads, num_kv_groups). Each number is above and below the others somewhere.
SIZES = (
    (2, 5, 3, 36, 6, 2),
    (3, 4, 7, 8, 8, 4),
    (2, 3, 4, 4, 4, 1),
    (1, 6, 5, 6, 3, 3),
    (4, 2, 9, 6, 2, 1),
    (1, 1, 3, 2, 1, 1),
    (2, 9, 2, 12, 4, 2),
)
LONG = 4100  # tokens: more than the masks that are often made for all sequences
FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "repeat_kv": "fresh_repeat_kv",
    "GroupedQueryAttention": "fresh_attention",
}
SHARED = ("W_key.weight", "W_value.weight")
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "addbmm", "mv", "addmv", "linear", "matmul", "einsum")


def shapes(d_in: int, d_out: int, heads: int, groups: int) -> dict[str, tuple[int, ...]]:
    """The parameters of a layer: keys and values have num_kv_groups heads, not num_heads."""
    shared = (groups * (d_out // heads), d_in)
    matrices = {"W_query.weight": (d_out, d_in)} | dict.fromkeys(SHARED, shared)
    return matrices | {"out_proj.weight": (d_out, d_out), "out_proj.bias": (d_out,)}


def random_state(rng, *sizes) -> dict[str, torch.Tensor]:
    """Random parameters whose scores differ clearly."""
    state = {name: rng.randn(*shape) for name, shape in shapes(*sizes).items()}
    return {name: value / (value.shape[-1] ** 0.5 if value.ndim == 2 else 2.0) for name, value in state.items()}


def expanded(state, heads: int, groups: int) -> dict[str, torch.Tensor]:
    """The same with a head of keys and values for each head of queries: copies of those of its group."""
    copies = {}
    for name in SHARED:
        by_group = state[name].unflatten(0, (groups, -1))  # (G, h, d_in)
        copies[name] = by_group[[head // (heads // groups) for head in range(heads)]].flatten(0, 1)  # (d_out, d_in)
    return state | copies


def multi_head(x: torch.Tensor, state, heads: int) -> torch.Tensor:
    """Causal multi-head attention in float64."""
    weights = {name: value.double() for name, value in state.items()}
    queries, keys, values = (
        (x.double() @ weights[f"{name}.weight"].T).unflatten(-1, (heads, -1)).transpose(1, 2)
        for name in ("W_query", "W_key", "W_value")
    )
    context = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    return context.transpose(1, 2).flatten(-2) @ weights["out_proj.weight"].T + weights["out_proj.bias"]


def twins(learner, reference, rng, *sizes):
    """The learner's layer and the solution's, with the same random parameters."""
    state = random_state(rng, *sizes)
    return tuple(one.GroupedQueryAttention(*sizes, state=state) for one in (learner, reference))


# Task 1


@task(1)
def test_fresh_repeat_kv(learner, rng):
    """repeat_kv gives each head as often as asked, with the copies of one head side by side."""
    for batch, groups, tokens, size, repeats in ((2, 3, 4, 5, 2), (3, 2, 2, 1, 4), (1, 4, 3, 2, 1), (2, 1, 5, 3, 3)):
        x = rng.randn(batch, groups, tokens, size)
        copies = [x[:, group] for group in range(groups) for _ in range(repeats)]
        expect(learner.repeat_kv(x, repeats), torch.stack(copies, dim=1))
    x = rng.strided(2, 2, 3, 4)
    expect(learner.repeat_kv(x, 2), torch.stack([x[:, 0], x[:, 0], x[:, 1], x[:, 1]], dim=1))


# Task 2


@task(2)
def test_parameters(learner):
    """Your layer has the parameters in the lesson and no others: keys and values have num_kv_groups heads."""
    for sizes in ((3, 12, 6, 2), (5, 8, 4, 1), (4, 6, 3, 3)):
        layer = learner.GroupedQueryAttention(*sizes)
        has_parameters(layer, shapes(*sizes))
        values = [value for value in layer.parameters().values() if value.ndim == 2]
        if any(torch.equal(one, two) for index, one in enumerate(values) for two in values[:index]):
            raise Mismatch(
                "two weight matrices hold the same numbers: draw each one separately, and set no seed yourself"
            )


@task(2)
def test_fresh_attention(learner, rng):
    """Your layer is multi-head attention in which the heads of a group share keys and values."""
    for batch, tokens, *sizes in SIZES:
        state, x = random_state(rng, *sizes), rng.randn(batch, tokens, sizes[0])
        layer = learner.GroupedQueryAttention(*sizes, state=state)
        expect(layer(x), multi_head(x, expanded(state, *sizes[2:]), sizes[2]).float())
    state = random_state(rng, 4, 8, 4, 2)
    layer = learner.GroupedQueryAttention(4, 8, 4, 2, state=state)
    for tokens in (3, 1, 7):
        x = rng.strided(2, tokens, 4)
        x[0, tokens // 2] = 0.0  # a token like others
        expect(layer(x), multi_head(x, expanded(state, 4, 2), 4).float())


@task(2, after="fresh_attention")
def test_long_sequence(learner, rng):
    """There is no longest sequence: 4,100 tokens are right, too."""
    state, x = random_state(rng, 2, 1, 1, 1), rng.randn(1, LONG, 2)
    result = learner.GroupedQueryAttention(2, 1, 1, 1, state=state | {"W_query.weight": torch.zeros(1, 2)})(x)
    values = (x @ state["W_value.weight"].T).double()  # without queries, each token takes the mean of all so far
    means = values.cumsum(dim=1) / torch.arange(1, LONG + 1)[:, None]  # (1, T, 1)
    expect(result, (means * state["out_proj.weight"].double() + state["out_proj.bias"]).float())


@task(2, after="fresh_attention")
def test_grouped_projection(learner, rng):
    """You project keys and values to num_kv_groups heads, and repeat them afterwards."""
    batch, tokens, d_in, d_out, heads, groups = 2, 3, 16, 32, 8, 2
    layer = learner.GroupedQueryAttention(d_in, d_out, heads, groups)
    record = layer.operations(rng.randn(batch, tokens, d_in))
    products = [operation for operation in record if operation.name in PRODUCTS or operation.is_attention]
    shared = groups * d_out // heads  # numbers of all heads of keys, for one token
    fair = batch * tokens * (d_in * (d_out + 2 * shared) + d_out * d_out + 2 * tokens * d_out)
    more = batch * tokens * d_in * (d_out - shared)  # keys alone, or values, for each head of queries
    if multiply_adds(products) > fair + more / 2:
        details = f"counted {multiply_adds(products):,} multiply-adds in products; {fair:,} are needed"
        raise Mismatch("more keys or values are projected than those of num_kv_groups heads", details)


@task(2, after="parameters")
def test_same_as_expanded(learner, rng):
    """A layer with as many groups as heads gives the same output if its keys and values are copies."""
    sizes, x = (5, 8, 4), rng.randn(2, 6, 5)
    plain = learner.GroupedQueryAttention(*sizes, 4)
    for groups in (2, 1):
        state = random_state(rng, *sizes, groups)
        few = learner.GroupedQueryAttention(*sizes, groups, state=state)
        plain.load(expanded(state, 4, groups))
        result = few(x)
        expect_shape(result, (2, 6, 8))
        expect(plain(x), result, "the result with copies of the keys and values")


@task(2)
def test_no_look_ahead(learner, rng):
    """No output changes when later tokens change, even if every score is 0."""
    for zero in ((), ("W_key.weight",), ("W_query.weight",)):
        state = random_state(rng, 3, 8, 4, 2)
        layer = learner.GroupedQueryAttention(3, 8, 4, 2, state=state | {name: 0 * state[name] for name in zero})
        x = rng.randn(2, 5, 3)
        later = torch.cat([x[:, :3], rng.randn(2, 2, 3)], dim=1)
        before, after = layer(x), layer(later)
        expect_shape(before, (2, 5, 8))
        expect_shape(after, (2, 5, 8))
        expect(after[:, :3], before[:, :3], "the part of the first 3 tokens, now that the last 2 are others,")


@task(2)
def test_large_scores(learner):
    """Very large scores (±10,000) neither produce NaN nor let a token see the future."""
    x = torch.tensor([[1.0, 1.0, 3.0], [1.0, 0.5, 5.0], [1.0, -0.5, 7.0], [1.0, -1.0, 2.0]])
    state = {
        "W_query.weight": torch.tensor([[100.0, 0.0, 0.0], [-100.0, 0.0, 0.0]]),
        "W_key.weight": torch.tensor([[0.0, 100.0, 0.0]]),
        "W_value.weight": torch.tensor([[0.0, 0.0, 1.0]]),
        "out_proj.weight": torch.eye(2),
        "out_proj.bias": torch.zeros(2),
    }
    layer = learner.GroupedQueryAttention(3, 2, 2, 1, state=state)
    # Head 0 scores the tokens with 10,000, 5,000, −5,000, −10,000 and takes the first; head 1 the other way round.
    expect(layer(x[None]), torch.tensor([[[3.0, 3.0], [3.0, 5.0], [3.0, 7.0], [3.0, 2.0]]]))


@task(2)
def test_uneven_counts(learner):
    """Raises ValueError when num_heads doesn't divide d_out, or num_kv_groups doesn't divide num_heads."""
    learner.GroupedQueryAttention(3, 8, 4, 2)
    learner.GroupedQueryAttention(5, 6, 3, 1)
    for sizes in ((4, 6, 4, 2), (6, 5, 2, 1), (4, 12, 4, 3), (3, 8, 2, 4), (6, 12, 6, 4)):
        refuses(ValueError, learner.GroupedQueryAttention, *sizes)


# All tasks


@task(2, each=FUNCTIONS)
def test_gradients(learner, reference, rng):
    """Gradients flow back to the inputs and to every parameter, and they are correct."""
    same_gradients(learner.repeat_kv, reference.repeat_kv, rng.randn(2, 2, 3, 4), 3)
    same_gradients(*twins(learner, reference, rng, 3, 8, 4, 2), rng.randn(2, 5, 3))


@task(2, each=FUNCTIONS)
def test_dtype_and_device(learner, reference, rng):
    """The output keeps the dtype and device of the input, even after you move the layer."""
    heads = rng.randn(2, 2, 3, 4)
    keeps_dtype(learner.repeat_kv, reference.repeat_kv, heads, 3)
    keeps_device(learner.repeat_kv, heads, 3)
    mine, theirs = twins(learner, reference, rng, 3, 8, 4, 2)
    x = rng.randn(2, 5, 3)
    agrees(mine, theirs, x)  # a call before the move
    keeps_dtype(mine, theirs, x)
    mine.to(dtype=torch.float32)
    keeps_device(mine, x)


@task(2, each=FUNCTIONS)
def test_inputs_unchanged(learner, reference, rng):
    """Calling your code twice gives the same result, and it changes neither inputs nor parameters."""
    for repeats in (3, 1):
        keeps_inputs(learner.repeat_kv, rng.randn(2, 2, 3, 4), repeats)
    for groups in (2, 4):
        mine, theirs = twins(learner, reference, rng, 3, 8, 4, groups)
        keeps_inputs(mine, rng.randn(2, 5, 3))
        expect(mine.parameters(), theirs.parameters(), "the parameters after the calls")


@task(2, each=FUNCTIONS)
def test_argument_names(learner, rng):
    """Arguments have the names used in the lesson: x and repeats; those of the class, and x of the layer."""
    learner.repeat_kv(x=rng.randn(2, 2, 3, 4), repeats=3)
    learner.GroupedQueryAttention(d_in=3, d_out=8, num_heads=4, num_kv_groups=2)(x=rng.randn(2, 5, 3))
