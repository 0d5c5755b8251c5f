"""Hidden checks: fresh inputs against attention by hand in float64, and the method, seen in what torch ran.

The order of rows in qkv is free, so parameters come in through load_unfused alone.
"""

import math

import torch

from grader.authors import (
    Mismatch,
    agrees,
    expect,
    expect_shape,
    has_parameters,
    held_tensor,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    keeps_parameters,
    multiply_adds,
    same,
    same_gradients,
    task,
)

# (B, T, d_in, d_out, context_length, num_heads). Each number is above and below the others somewhere.
SIZES = (
    (2, 7, 15, 18, 7, 3),
    (3, 4, 2, 8, 7, 2),
    (5, 2, 4, 4, 6, 4),
    (2, 12, 4, 6, 15, 2),
    (3, 3, 9, 9, 3, 3),
    (1, 1, 3, 2, 1, 1),
)
NAMES = ("W_query", "W_key", "W_value")
# Scores of (T, T) are larger than anything else that these sizes need.
B, T, D_IN, D_OUT, HEADS = METHOD = (2, 40, 6, 8, 4)
RATE = 0.3  # of dropout. Not 0.5: the share that goes and the share that stays must be told apart
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "linear")


def random_state(rng, d_in: int, d_out: int, bias: bool) -> dict[str, torch.Tensor]:
    """The parameters of a layer of exercise 13, none of them zero, whose scores differ clearly."""
    state = {f"{name}.weight": rng.randn(d_out, d_in) / d_in**0.5 for name in NAMES}
    state |= {f"{name}.bias": rng.randn(d_out) / 2 for name in NAMES * bias}
    return state | {"out_proj.weight": rng.randn(d_out, d_out) / d_out**0.5, "out_proj.bias": rng.randn(d_out) / 2}


def by_hand(x: torch.Tensor, state, heads: int) -> torch.Tensor:
    """Exercise 13 in float64."""
    state = {name: value.double() for name, value in state.items()}
    queries, keys, values = (
        (x.double() @ state[f"{name}.weight"].T + state.get(f"{name}.bias", 0.0)).unflatten(-1, (heads, -1))
        for name in NAMES
    )
    queries, keys, values = (part.transpose(1, 2) for part in (queries, keys, values))  # (B, H, T, h)
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)
    context = (torch.softmax(scores, dim=-1) @ values).transpose(1, 2).flatten(-2)
    return context @ state["out_proj.weight"].T + state["out_proj.bias"]


def loaded(one, state, *sizes):
    """A layer of these sizes with the parameters of exercise 13."""
    layer = one.FusedMultiHeadAttention(*sizes)
    layer.load_unfused(state)
    return layer


# Task 1


@task(1)
def test_parameters(learner):
    """The parameters are those of qkv, one layer for queries, keys and values, and of out_proj, and no others."""
    shapes = {"qkv.weight": (18, 4), "out_proj.weight": (6, 6), "out_proj.bias": (6,)}
    plain = learner.FusedMultiHeadAttention(4, 6, 5, 0.1, 3)
    biased = learner.FusedMultiHeadAttention(4, 6, 5, 0.1, 3, True)
    has_parameters(plain, shapes)
    has_parameters(biased, shapes | {"qkv.bias": (18,)})
    one, two = (layer.parameters()["qkv.weight"] for layer in (plain, biased))
    if torch.equal(one, two):
        raise Mismatch("two layers hold the same numbers: draw each one separately, and set no seed yourself")


@task(1)
def test_fused_call(learner, rng):
    """scaled_dot_product_attention is called for all queries, keys and values, and no scores are made by hand."""
    layer = learner.FusedMultiHeadAttention(D_IN, D_OUT, T, RATE, HEADS)
    for _ in range(2):  # in training, and in eval mode
        record = layer.operations(rng.randn(B, T, D_IN))
        fused = [operation for operation in record if operation.is_attention]
        if not fused:
            raise Mismatch("torch's scaled_dot_product_attention is not called")
        if multiply_adds(fused) < 2 * B * T * T * D_OUT:  # H heads of d_out / H numbers: scores, and the mix of values
            raise Mismatch("scaled_dot_product_attention is called, but not for all queries, keys and values")
        beside = [operation for operation in record if operation not in fused and makes_scores(operation)]
        if beside:
            details = f"{beside[0].name} makes a tensor of {beside[0].output_shapes[0]}"
            raise Mismatch("scores of all tokens with all tokens are computed beside the fused function", details)
        products = [operation for operation in record if operation not in fused and operation.name in PRODUCTS]
        projections = B * T * D_OUT * (3 * D_IN + D_OUT)
        if multiply_adds(products) > projections + B * T * T * D_OUT / 2:  # in parts, each of them small
            details = f"counted {multiply_adds(products):,} multiply-adds; the projections take {projections:,}"
            raise Mismatch("more products than the projections are computed beside the fused function", details)
        layer.eval()


def makes_scores(operation) -> bool:
    """Whether an operation computes a number for each head and pair of tokens. A mask need not be one for each head."""
    computes = operation.name in (
        "mm",
        "bmm",
        "baddbmm",
        "_softmax",
        "_safe_softmax",
        "exp",
        "mul",
        "div",
        "masked_fill",
    )
    return computes and any(math.prod(shape) >= B * HEADS * T * T for shape in operation.output_shapes)


@task(1, after="parameters")
def test_one_projection(learner, rng):
    """Queries, keys and values come of one product with qkv.weight."""
    layer = learner.FusedMultiHeadAttention(D_IN, D_OUT, T, 0.0, HEADS)
    record = layer.operations(rng.randn(B, T, D_IN))
    products = [operation for operation in record if operation.name in PRODUCTS]
    if not any(math.prod(shape) == B * T * 3 * D_OUT for one in products for shape in one.output_shapes):
        details = ", ".join(str(shape) for one in products for shape in one.output_shapes)
        raise Mismatch("no product gives queries, keys and values at once", f"the products give {details}"[:300])


# Task 2


@task(2)
def test_fresh_attention(learner, rng):
    """With the parameters of exercise 13, the layer gives the output of exercise 13."""
    for index, (count, tokens, d_in, d_out, length, heads) in enumerate(SIZES):
        bias = (index % 2 == 1,) * (index > 0)
        state, x = random_state(rng, d_in, d_out, any(bias)), rng.randn(count, tokens, d_in)
        layer = loaded(learner, state, d_in, d_out, length, 0.0, heads, *bias)
        expect(layer(x), by_hand(x, state, heads).float())
    layer = learner.FusedMultiHeadAttention(4, 6, 7, 0.0, 2, True)
    for tokens in (3, 1, 7):  # a second state takes the place of the first
        state, x = random_state(rng, 4, 6, True), rng.strided(2, tokens, 4)
        x[0, tokens // 2] = 0.0  # a token like others
        layer.load_unfused(state)
        expect(layer(x), by_hand(x, state, 2).float())


@task(2, after="fresh_attention")
def test_other_entries(learner, rng):
    """load_unfused ignores other entries, in any order, copies, and leaves state and parameter objects as they were."""
    state, x = random_state(rng, 4, 6, True), rng.randn(2, 5, 4)
    expected = by_hand(x, state, 3).float()
    future = torch.ones(7, 7).triu(1)
    states = ({"mask": future} | state, dict(reversed(state.items())) | {"causal.future": future.bool()})
    for given in states:
        layer = learner.FusedMultiHeadAttention(4, 6, 7, 0.0, 3, True)
        _, ((after,), _) = layer.load_unfused.with_inputs(given)
        expect(after, given, "the state after the call")
        expect(layer(x), expected)
        names = {"qkv.weight": (18, 4), "qkv.bias": (18,), "out_proj.weight": (6, 6), "out_proj.bias": (6,)}
        has_parameters(layer, names)
    other = random_state(rng, 4, 6, True)
    keeps_parameters(layer, lambda: layer.load_unfused(other), "load_unfused")
    held = {name: held_tensor(learner, value) for name, value in state.items()}
    layer.load_unfused(held)
    for tensor in held.values():
        tensor.zero_()
    expect(layer(x), expected, "the result after the caller wrote into the state that was loaded")


@task(2)
def test_no_look_ahead(learner, rng):
    """The output of a token does not change when later tokens change, also where every score is 0."""
    for zero in ((), ("W_key.weight",), ("W_query.weight",)):
        state = random_state(rng, 3, 4, False)
        layer = loaded(learner, state | {name: 0 * state[name] for name in zero}, 3, 4, 5, 0.0, 2)
        x = rng.randn(2, 5, 3)
        later = torch.cat([x[:, :3], rng.randn(2, 2, 3)], dim=1)
        before, after = layer(x), layer(later)
        expect_shape(before, (2, 5, 4))
        expect_shape(after, (2, 5, 4))
        expect(after[:, :3], before[:, :3], "the part of the first 3 tokens, now that the last 2 are others,")


@task(2)
def test_large_scores(learner):
    """Scores of ±10,000 give no NaN and no glance at the future."""
    x = torch.tensor([[-1.0, 1.0, 3.0, 1.0], [-1.0, 0.5, 5.0, 1.0], [1.0, -0.5, 7.0, 1.0], [0.0, -1.0, 2.0, 1.0]])
    state = {
        "W_query.weight": torch.tensor([[100.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 100.0]]),
        "W_key.weight": torch.tensor([[0.0, 0.0, 0.0, 100.0], [0.0, 100.0, 0.0, 0.0]]),
        "W_value.weight": torch.tensor([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]]),
        "out_proj.weight": torch.eye(2),
        "out_proj.bias": torch.zeros(2),
    }
    layer = loaded(learner, state, 4, 2, 5, 0.0, 2)
    # Head 0, all scores of a row alike: −10,000 | −10,000 | 10,000 | 0. Head 1: 10,000, 5,000, −5,000, −10,000.
    first = torch.tensor([[3.0, 3.0], [4.0, 3.0], [5.0, 3.0], [4.25, 3.0]])
    # The other way round, head 1 scores each later token higher.
    second = torch.tensor([[2.0, 2.0], [4.5, 7.0], [14 / 3, 5.0], [4.25, 3.0]])
    expect(layer(torch.stack([x, x.flip(0)])), torch.stack([first, second]))


# Task 3. To see the attention weights from outside, every token is a one-hot vector, W_value holds the identity twice
# for each head, and out_proj changes nothing: the output of a head is then its weights, and its weights again.


def visible(rng, tokens: int, heads: int) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Parameters that show the attention weights (H, T, T) in the output, and these weights."""
    size = 2 * tokens  # of one head
    query, key = (rng.randn(heads, size, tokens) * 0.7 for _ in range(2))
    state = {
        "W_query.weight": query.flatten(0, 1),
        "W_key.weight": key.flatten(0, 1),
        "W_value.weight": torch.eye(tokens).repeat(2 * heads, 1),
        "out_proj.weight": torch.eye(heads * size),
        "out_proj.bias": torch.zeros(heads * size),
    }
    future = torch.ones(tokens, tokens).triu(1).bool()
    return state, torch.softmax((query.mT @ key / size**0.5).masked_fill(future, -torch.inf), dim=-1)


def kept_weights(output, weights: torch.Tensor) -> torch.Tensor:
    """Which weights stayed: (B, H, T, T) bool. Raises Mismatch where the rest is not dropout.

    Chances of a right answer to fail are below 1e-20: 2,112 weights are looked at.
    """
    heads, tokens, _ = weights.shape
    expect_shape(output, (2, tokens, 2 * heads * tokens))
    once, again = output.unflatten(-1, (heads, 2, tokens)).permute(3, 0, 2, 1, 4)  # (B, H, T, T) each
    if same(once, weights.expand_as(once)):
        raise Mismatch("in training mode nothing is dropped")
    if not same(once, again):
        raise Mismatch(
            "in training mode it is not the attention weights that are dropped: "
            "a dropped weight takes its token out of every number of the head's output"
        )
    zero, scaled = once.abs() < 1e-7, weights / (1 - RATE)
    if not bool((zero | ((once - scaled).abs() < 1e-4 * scaled)).all()):
        raise Mismatch("in training mode an attention weight is neither 0 nor the weight divided by 1 − dropout")
    share = float(zero[:, weights > 0].float().mean())
    if abs(share - RATE) > 0.15:
        few = "few" if share < RATE else "many"
        raise Mismatch(f"too {few} attention weights are dropped", f"dropped {share:.0%}, expected about {RATE:.0%}")
    return ~zero


@task(3, after="fresh_attention")
def test_dropout_on_the_weights(learner, rng):
    """In training, a share of the attention weights is 0 and the others are divided by 1 − dropout."""
    state, weights = visible(rng, 32, 2)
    x = torch.eye(32).repeat(2, 1, 1)  # (2, 32, 32)
    layer = loaded(learner, state, 32, 128, 32, RATE, 2)
    kept = kept_weights(layer.train()(x, seed=1), weights)  # (2, 2, 32, 32)
    again = kept_weights(layer.eval().train()(x, seed=2), weights)
    # Two draws differ in 2 · 0.3 · 0.7 = 42 % of the places; half of that is far out of reach of chance.
    if float((kept != again)[kept.new_ones(kept.shape).tril()].float().mean()) < 0.21:
        raise Mismatch("dropout draws alike in each call")


@task(3, after="fresh_attention")
def test_dropout_off(learner, rng):
    """In eval mode, and with dropout=0.0, nothing is dropped; loading parameters does not change the mode."""
    state, x = random_state(rng, 3, 4, False), rng.randn(2, 5, 3)
    expected = by_hand(x, state, 2).float()
    layer = loaded(learner, state, 3, 4, 6, 0.5, 2)
    if not layer.describe(values=False)["training"]:
        raise Mismatch("after load_unfused the layer is in eval mode")
    expect(layer.eval()(x), expected, "the result in eval mode")
    expect(loaded(learner, state, 3, 4, 6, 0.0, 2).train()(x), expected, "the result in training with dropout=0.0")


# All tasks


class Unordered:
    """A layer whose gradients come in the rows' own order: W_query, W_key, W_value."""

    def __init__(self, layer, state):
        layer.load_unfused(state)
        self.layer, rows = layer, torch.cat([state[f"{name}.weight"] for name in NAMES])
        got = layer.parameters().get("qkv.weight")
        if got is None:
            raise Mismatch("the layer has no parameter called qkv.weight")
        expect_shape(got, tuple(rows.shape), "the parameter qkv.weight")
        alike = (rows[:, None] == got).all(dim=-1)  # (rows of exercise 13, rows of qkv)
        if not bool((alike.sum(dim=0) == 1).all() and (alike.sum(dim=1) == 1).all()):
            raise Mismatch("qkv.weight does not hold each row of W_query, W_key and W_value once")
        self.places = alike.int().argmax(dim=1)

    def gradients(self, *args):
        found = self.layer.gradients(*args)
        for name, value in found.items():
            if name.startswith("parameter qkv") and value.shape[:1] == self.places.shape:
                found[name] = value[self.places]
        return found


@task(3, after="fresh_attention")
def test_gradients(learner, reference, rng):
    """Gradients reach the inputs and every parameter, and they are correct."""
    for bias in (False, True):
        state, x = random_state(rng, 3, 4, bias), rng.randn(2, 5, 3)
        mine, theirs = (
            Unordered(one.FusedMultiHeadAttention(3, 4, 5, 0.0, 2, bias), state) for one in (learner, reference)
        )
        same_gradients(mine, theirs, x)


@task(3, after="fresh_attention")
def test_dtype_and_device(learner, reference, rng):
    """The result has the dtype and the device of the inputs; a moved layer works, in training with dropout too."""
    state, x = random_state(rng, 3, 4, True), rng.randn(2, 4, 3)
    mine, theirs = (loaded(one, state, 3, 4, 5, RATE, 2, True) for one in (learner, reference))
    mine.eval(), theirs.eval()
    agrees(mine, theirs, x)  # a call before the move
    keeps_dtype(mine, theirs, x)
    mine.train()
    for dtype in (torch.bfloat16, torch.float64):
        result = mine.to(dtype=dtype)(x.to(dtype))
        expect_shape(result, (2, 4, 4))
        if result.dtype != dtype:
            raise Mismatch(f"in training the result has dtype {str(result.dtype)[6:]}; expected {str(dtype)[6:]}")
    keeps_device(mine.to(dtype=torch.float32), x)


@task(3, after="fresh_attention")
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    layer = loaded(learner, random_state(rng, 3, 4, True), 3, 4, 5, 0.0, 2, True)
    before = layer.parameters()
    keeps_inputs(layer, rng.randn(2, 4, 3))
    expect(layer.parameters(), before, "the parameters after the calls")


@task(3, after="fresh_attention")
def test_argument_names(learner, rng):
    """Arguments have the lesson's names: those of the class, x of the layer, and state_dict of load_unfused."""
    sizes = {"d_in": 4, "d_out": 6, "context_length": 7, "dropout": 0.0, "num_heads": 2, "qkv_bias": True}
    layer = learner.FusedMultiHeadAttention(**sizes)
    layer.load_unfused(state_dict=random_state(rng, 4, 6, True))
    layer(x=rng.randn(2, 5, 4))
