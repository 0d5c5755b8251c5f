"""Hidden checks: fresh inputs against the solution, and what must hold for any input."""

import torch

from grader.authors import (
    LARGE_TOLERANCE,
    Mismatch,
    agrees,
    expect,
    expect_shape,
    has_parameters,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    refuses,
    same,
    same_gradients,
    task,
)

FRESH = ("fresh_causal_attention",)  # what every promise below builds on

# d_in, d_out, T = context_length, bias, and every B. B, d_in and d_out are below and above T: none of
# them may be taken for it.
SHAPES = (
    (3, 5, 6, False, (1, 2)),
    (3, 2, 1, False, (1,)),
    (4, 4, 5, False, (2,)),
    (7, 5, 3, True, (3,)),
    (2, 3, 4, True, (5, 1)),
)
RATE = 0.3  # of dropout. Not 0.5: the share that goes and the share that stays must be told apart
LAYERS = ("W_query", "W_key", "W_value")


def random_state(rng, d_in, d_out, bias=False, heads=("",)) -> dict[str, torch.Tensor]:
    """Random weights, and biases where asked for, whose scores are about ±3."""
    state = {}
    for name in (head + layer for head in heads for layer in LAYERS):
        state[f"{name}.weight"] = rng.randn(d_out, d_in) / d_in**0.5
        if bias:
            state[f"{name}.bias"] = rng.randn(d_out) / 2
    return state


def twins(learner, reference, rng, d_in, d_out, context_length, dropout=0.0, bias=False, **wrapper):
    """The learner's object and the solution's, with the same random weights and biases.

    wrapper: `num_heads`, for a MultiHeadAttentionWrapper instead of a CausalAttention.
    """
    heads = [f"heads.{head}." for head in range(wrapper["num_heads"])] if wrapper else [""]
    state = random_state(rng, d_in, d_out, bias, heads)
    sizes = (d_in, d_out, context_length, dropout, *wrapper.values(), *([True] if bias else []))
    name = "MultiHeadAttentionWrapper" if wrapper else "CausalAttention"
    return getattr(learner, name)(*sizes, state=state), getattr(reference, name)(*sizes, state=state)


# Task 1


@task(1)
def test_parameters(learner, rng):
    """The parameters have the names of the lesson, with biases where they are asked for, and follow the seed."""
    weights = {f"{name}.weight": (5, 3) for name in LAYERS}
    biases = {f"{name}.bias": (5,) for name in LAYERS}
    plain, biased = learner.CausalAttention(3, 5, 4, 0.1, seed=1), learner.CausalAttention(3, 5, 4, 0.1, True, seed=2)
    has_parameters(plain, weights)
    has_parameters(biased, weights | biases)
    follows_the_seed(plain, biased)


def follows_the_seed(first, second) -> None:
    """No matrix of one object is in the other or in the same one again."""
    values = [value for layer in (first, second) for value in layer.parameters().values() if value.ndim == 2]
    if any(bool((value == value[0, 0]).all()) for value in values):
        raise Mismatch("a weight matrix holds the same number everywhere: leave the layers as nn.Linear draws them")
    if any(torch.equal(one, two) for index, one in enumerate(values) for two in values[:index]):
        raise Mismatch("two weight matrices hold the same numbers: draw each one separately, and set no seed yourself")


@task(1)
def test_fresh_causal_attention(learner, reference, rng):
    """CausalAttention is right on new inputs of other sizes, with and without bias."""
    for d_in, d_out, tokens, bias, counts in SHAPES:
        mine, theirs = twins(learner, reference, rng, d_in, d_out, tokens, bias=bias)
        for count in counts:
            agrees(mine, theirs, rng.randn(count, tokens, d_in))
    agrees(mine, theirs, rng.strided(2, tokens, d_in))


@task(1)
def test_future_stays_hidden(learner, rng):
    """A token's context vector does not change when later tokens change, also where every score is 0."""
    state = {f"{name}.weight": rng.randn(4, 3) for name in LAYERS}
    layer, x = learner.CausalAttention(3, 4, 5, 0.0, state=state), rng.randn(2, 5, 3)
    later = x.clone()
    later[:, 3:] = 3 * rng.randn(2, 2, 3)
    for _ in range(2):
        before, after = layer(x), layer(later)
        expect_shape(before, (2, 5, 4))
        expect_shape(after, (2, 5, 4))
        if not bool(before.isfinite().all()):
            raise Mismatch("the result holds NaN or an infinity")
        expect(after[:, :3], before[:, :3], "the part of the first 3 tokens, now that the last 2 are others,")
        layer.load(state | {"W_key.weight": torch.zeros(4, 3)})


@task(1)
def test_large_scores(learner, rng):
    """Scores of ±10,000 give no NaN and no glance at the future."""
    # Of each token (a, b, value): queries are 100 · a, keys 100 · b. No hidden score is above all that are seen:
    # then a mask on the weights, with each row divided by what is left, is as good as one on the scores.
    mixed = [[1.0, 1.0, 3.0], [-1.0, -1.0, 5.0], [1.0, 1.0, 7.0], [0.0, 0.0, 2.0]]
    low = [[1.0, -1.0, 3.0], [1.0, -1.0, 5.0], [1.0, -1.0, 7.0], [1.0, -1.0, 2.0]]
    state = {f"{name}.weight": torch.zeros(1, 3) for name in LAYERS}
    for place, (name, factor) in enumerate(zip(LAYERS, (100.0, 100.0, 1.0), strict=True)):
        state[f"{name}.weight"][0, place] = factor
    layer = learner.CausalAttention(3, 1, 4, 0.0, state=state)
    # Scores, mixed: 10,000 | ∓10,000 | ±10,000, 10,000 | all 0. Low: all −10,000. A row averages its largest.
    expected = [[3.0, 5.0, 5.0, 4.25], [3.0, 4.0, 5.0, 4.25]]
    expect(layer(torch.tensor([mixed, low])), torch.tensor(expected)[..., None], tolerance=LARGE_TOLERANCE)


@task(1, after=FRESH)
def test_gradients(learner, reference, rng):
    """Gradients reach the inputs and every parameter, and they are correct."""
    mine, theirs = twins(learner, reference, rng, 3, 2, 5, bias=True)
    same_gradients(mine, theirs, rng.randn(2, 5, 3))
    mine, theirs = twins(learner, reference, rng, 3, 2, 5, RATE)
    for name, gradient in mine.train().gradients(rng.randn(4, 5, 3)).items():
        if not bool(gradient.any()):
            raise Mismatch(f"in training with dropout no gradient reaches the {name}")


@task(1, after=FRESH)
def test_inputs_unchanged(learner, reference, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    mine, theirs = twins(learner, reference, rng, 3, 2, 5, bias=True)
    x = rng.randn(2, 5, 3)
    keeps_inputs(mine, x)
    agrees(mine, theirs, x)


# Task 2


@task(2)
def test_shorter_sequences(learner, rng):
    """Sequences shorter than the context length work, one token too, and in any order of calls."""
    # Held against a layer made for just as many tokens: a wrong scale of all scores is no mistake of the length.
    for size, bias, lengths in ((6, (), ((1, 5), (3, 1), (2, 6))), (70, (True,), ((2, 1), (1, 11)))):
        state = random_state(rng, 3, 2, bool(bias))
        layer = learner.CausalAttention(3, 2, size, 0.0, *bias, state=state)
        for count, tokens in lengths:
            x = rng.randn(count, tokens, 3)
            result, full = layer(x), learner.CausalAttention(3, 2, tokens, 0.0, *bias, state=state)(x)
            expect_shape(result, (count, tokens, 2))
            expect_shape(full, (count, tokens, 2))
            expect(result, full, f"the result for {tokens} of {size} tokens, held against a layer for {tokens} alone,")


@task(2)
def test_too_many_tokens(learner, rng):
    """More tokens than the context length raise a ValueError; just as many do not."""
    layer = learner.CausalAttention(6, 3, 4, 0.0)
    expect_shape(layer(rng.randn(6, 4, 6)), (6, 4, 3))
    refuses(ValueError, layer, rng.randn(1, 5, 6))
    refuses(ValueError, layer, rng.randn(2, 9, 6))
    expect_shape(layer(rng.randn(1, 4, 6)), (1, 4, 3))


@task(2)
def test_mask_moves(learner, reference, rng):
    """The mask moves with the module to another device, and dropout draws on the device of the inputs."""
    x = rng.randn(2, 3, 4)
    for training in (False, True):
        mine, _ = twins(learner, reference, rng, 4, 2, 5, RATE, bias=True)
        keeps_device(mine.train(training), x)


# Task 3. To see the attention weights from outside, every token is a one-hot vector and W_value
# holds the identity twice: the context vectors are then the weights, and the weights again.

EXTRA = 4  # unused entries of a token, so that d_in is not T
LEAST = 1e-6  # a weight above is one that dropout may take away: where the scale is wrong, many are next to nothing


def visible(rng, tokens: int) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Parameters that show the attention weights in the result, and the batch of two to give."""
    one_hot = torch.eye(tokens, tokens + EXTRA)  # (T, d_in)
    query, key = (0.4 * rng.randn(2 * tokens, tokens + EXTRA) for _ in range(2))  # (2T, d_in)
    state = {"W_query.weight": query, "W_key.weight": key, "W_value.weight": torch.cat([one_hot] * 2)}
    return state, one_hot.repeat(2, 1, 1)


def own_weights(result, tokens: int, heads: int = 1) -> list[torch.Tensor]:
    """The attention weights (T, T) of each head, as the learner's own code has them in eval mode.

    Whether they are right is asked by other checks: a wrong scale is no mistake of dropout.
    """
    expect_shape(result, (2, tokens, 2 * heads * tokens))
    once, again = result.unflatten(-1, (heads, 2, tokens)).unbind(-2)  # (B, T, H, T) each
    if not bool(result.isfinite().all()) or not same(once, again) or not same(once[0], once[1]):
        raise Mismatch(
            "in eval mode the result is not the values weighted by attention: fix that first. Is something dropped?"
        )
    return list(once[0].unbind(1))


def kept_weights(result, weights: torch.Tensor) -> torch.Tensor:
    """Which weights of each sequence stayed: (B, T, T) bool. Raises Mismatch where the rest is not dropout.

    Chances of a right answer to fail are below 1e-20: 1,056 weights and more are looked at.
    """
    tokens = len(weights)
    seen = weights.abs() > LEAST  # (T, T)
    once, again = result[..., :tokens], result[..., tokens:]  # (B, T, T) each
    if same(result, torch.cat([weights, weights], dim=-1).expand_as(result)):
        raise Mismatch("in training mode nothing is dropped")
    if not same(once, again):
        raise Mismatch(
            "in training mode it is not the attention weights that are dropped: "
            "a dropped weight takes its token out of every number of the context vector"
        )
    zero = once.abs() <= LEAST
    if bool((once.abs() > 2 * LEAST)[..., ~seen].any()):
        raise Mismatch("in training mode a token sees what it does not see in eval mode")
    scaled = weights / (1 - RATE)
    right = ~seen | zero | ((once - scaled).abs() < 1e-4 * scaled.abs())
    if not bool(right.all()):
        raise unlike_dropout(once, weights, zero, seen)
    count = len(result) * int(seen.sum())
    share = int((zero & seen).sum()) / count
    if abs(share - RATE) > 0.15:
        few = "few" if share < RATE else "many"
        raise Mismatch(f"too {few} attention weights are dropped", f"dropped {share:.0%}, expected about {RATE:.0%}")
    return ~zero


def unlike_dropout(once, weights, zero, seen) -> Mismatch:
    """What the weights in training mode are, where they are not 0 or divided by 1 − dropout."""
    sums = once.sum(dim=-1)
    if bool((((sums - 1).abs() < 1e-4) | (sums == 0) | sums.isnan()).all()) and bool((zero & seen).any()):
        return Mismatch("after dropout the rows are made to sum to 1 again: leave them as dropout leaves them")
    if not bool(once.isfinite().all()):
        return Mismatch("in training mode the result holds NaN")
    if not bool((zero & seen).any()):
        return Mismatch("in training mode no attention weight is 0: dropout belongs on the weights, after the softmax")
    if bool((zero | ((once - weights).abs() < 1e-4 * weights.abs())).all()):
        return Mismatch("the attention weights that stay are not divided by 1 − dropout")
    return Mismatch("in training mode an attention weight is neither 0 nor the weight divided by 1 − dropout")


def drawn_apart(one: torch.Tensor, two: torch.Tensor, seen: torch.Tensor, what: str) -> None:
    """Two draws differ in 2 · 0.3 · 0.7 = 42 % of the places; half of that is far out of reach of chance."""
    places = seen.expand_as(one)
    if float((one != two)[places].float().mean()) < 0.21:
        raise Mismatch(f"dropout draws alike for {what}: each attention weight is dropped by a draw of its own")


@task(3)
def test_dropout_on_the_weights(learner, rng):
    """In training, a share of the attention weights is 0 and the others are divided by 1 − dropout."""
    state, x = visible(rng, 64)
    layer = learner.CausalAttention(64 + EXTRA, 128, 64, RATE, state=state)
    result = layer(x, seed=1)
    (weights,) = own_weights(layer.eval()(x), 64)
    seen = weights.abs() > LEAST  # (64, 64)
    expect_shape(result, (2, 64, 128))
    kept = kept_weights(result, weights)
    drawn_apart(kept[0], kept[1], seen, "all sequences of a batch")
    drawn_apart(kept[:, 1:], kept[:, :-1], seen[:-1], "all queries")
    drawn_apart(kept[:, :, 1:], kept[:, :, :-1], seen[:, 1:], "all keys")
    result = layer.train()(x, seed=2)
    expect_shape(result, (2, 64, 128))
    drawn_apart(kept, kept_weights(result, weights), seen, "each call")


@task(3)
def test_dropout_off(learner, rng):
    """In eval mode, and with dropout=0.0, nothing is dropped."""
    x, state = rng.randn(2, 5, 3), {f"{name}.weight": rng.randn(4, 3) for name in LAYERS}
    dropping, other = (learner.CausalAttention(3, 4, 8, rate, state=state) for rate in (0.5, 0.0))
    once, again, without = dropping.eval()(x), dropping(x), other.train()(x)
    expect_shape(once, (2, 5, 4))
    expect(again, once, "the result of a second call in eval mode")
    expect(without, once, "the result with dropout=0.0, held against that in eval mode,")


@task(1, after=(*FRESH, "dropout_off"))
def test_dtype(learner, reference, rng):
    """The result keeps the dtype of the inputs, in training with dropout too."""
    mine, theirs = twins(learner, reference, rng, 3, 2, 5, RATE, bias=True)
    x = rng.randn(2, 5, 3) / 2  # small: honest styles round bfloat16 in different places
    mine.eval(), theirs.eval()
    keeps_dtype(mine, theirs, x)
    for dtype in (torch.bfloat16, torch.float64):
        result = mine.to(dtype=dtype).train()(x.to(dtype))
        expect_shape(result, (2, 5, 2))
        if result.dtype != dtype:
            raise Mismatch(f"in training the result has dtype {str(result.dtype)[6:]}; expected {str(dtype)[6:]}")


# Task 4


@task(4)
def test_wrapper_parameters(learner, rng):
    """Each head has layers of its own, called heads.0.W_query and so on, with biases where they are asked for."""
    weights = {f"heads.{head}.{name}.weight": (5, 4) for head in range(3) for name in LAYERS}
    biases = {f"heads.{head}.{name}.bias": (5,) for head in range(3) for name in LAYERS}
    plain = learner.MultiHeadAttentionWrapper(4, 5, 6, 0.1, 3, seed=1)
    biased = learner.MultiHeadAttentionWrapper(4, 5, 6, 0.1, 3, True, seed=2)
    has_parameters(plain, weights)
    has_parameters(biased, weights | biases)
    follows_the_seed(plain, biased)


@task(4)
def test_fresh_wrapper(learner, reference, rng):
    """MultiHeadAttentionWrapper is right on new inputs, for one head and for several."""
    for count, tokens, d_in, d_out, heads, bias in (
        (2, 5, 3, 3, 3, True),
        (1, 1, 3, 2, 1, False),
        (4, 3, 2, 5, 2, True),
    ):
        mine, theirs = twins(learner, reference, rng, d_in, d_out, tokens, bias=bias, num_heads=heads)
        agrees(mine, theirs, rng.randn(count, tokens, d_in))
    agrees(mine, theirs, rng.strided(2, 3, 2))


@task(4)
def test_wrapper_dropout(learner, rng):
    """The heads drop attention weights in training, each head by its own draw, and none in eval mode."""
    (first, x), (second, _) = visible(rng, 32), visible(rng, 32)
    state = {f"heads.0.{name}": value for name, value in first.items()}
    state |= {f"heads.1.{name}": value for name, value in second.items()}
    layer = learner.MultiHeadAttentionWrapper(32 + EXTRA, 64, 32, RATE, 2, state=state)
    result = layer(x)
    expect_shape(result, (2, 32, 128))
    weights, others = own_weights(layer.eval()(x), 32, heads=2)
    kept = kept_weights(result[..., :64], weights), kept_weights(result[..., 64:], others)
    drawn_apart(*kept, weights.abs() > LEAST, "all heads")


@task(4, after="fresh_wrapper")
def test_wrapper_promises(learner, reference, rng):
    """The wrapper keeps dtype, device, inputs and gradients, takes shorter sequences and refuses longer ones."""
    mine, theirs = twins(learner, reference, rng, 4, 2, 7, bias=True, num_heads=2)
    refuses(ValueError, mine, rng.randn(1, 8, 4))
    x = rng.randn(2, 3, 4) / 2
    agrees(mine, theirs, x)
    keeps_inputs(mine, x)
    same_gradients(mine, theirs, x)
    keeps_dtype(mine, theirs, x)
    keeps_device(mine.to(dtype=torch.float32), x)


@task(4, each={"CausalAttention": FRESH, "MultiHeadAttentionWrapper": "fresh_wrapper"})
def test_argument_names(learner, rng):
    """The arguments of both classes have the names used in the lesson, and x of the layers."""
    sizes = {"d_in": 3, "d_out": 2, "context_length": 4, "dropout": 0.0}
    for layer in (
        learner.CausalAttention(**sizes, qkv_bias=True),
        learner.MultiHeadAttentionWrapper(**sizes, num_heads=2, qkv_bias=True),
    ):
        layer(x=rng.randn(2, 4, 3))
