"""Hidden checks: fresh inputs against the solution, and what must hold for any input.

They set the parameters by name: another order of creation does not concern them.
"""

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

# (B, T, d_in, d_out, context_length, num_heads). Each number is above and below the others somewhere:
# none of them may be taken for another.
SIZES = (
    (2, 7, 15, 18, 7, 3),
    (3, 4, 2, 8, 7, 2),
    (5, 2, 4, 4, 6, 4),
    (2, 12, 4, 6, 15, 2),
    (3, 3, 9, 9, 3, 3),
    (1, 1, 3, 2, 1, 1),
)
FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "split_heads": "fresh_split_heads",
    "merge_heads": "fresh_merge_heads",
    "project_heads": "fresh_project_heads",
    "MultiHeadAttention": "fresh_multi_head",
}
LAYERS = ("W_query", "W_key", "W_value")
RATE = 0.3  # of dropout. Not 0.5: the share that goes and the share that stays must be told apart


def twins(learner, reference, rng, *args, zero=()):
    """The learner's layer and the solution's, with the same random weights and biases, none of them zero."""
    theirs = reference.MultiHeadAttention(*args)
    state = {key: rng.randn(*value.shape) for key, value in theirs.parameters().items()}
    for key, value in state.items():
        value /= value.shape[1] ** 0.5 if value.ndim == 2 else 2.0
        value *= 0.0 if key in zero else 1.0
    theirs.load(state)
    return learner.MultiHeadAttention(*args, state=state), theirs


# Task 1


@task(1)
def test_fresh_split_heads(learner, reference, rng):
    """split_heads is right on new inputs, for one head, several, and as many as numbers."""
    for *shape, heads in ((2, 5, 6, 3), (1, 1, 4, 2), (3, 2, 4, 1), (2, 4, 5, 5), (4, 2, 8, 2)):
        agrees(learner.split_heads, reference.split_heads, rng.randn(*shape), heads)
    agrees(learner.split_heads, reference.split_heads, rng.strided(2, 3, 8), 4)
    agrees(learner.split_heads, reference.split_heads, rng.randn(3, 5, 6), 2)


@task(1)
def test_fresh_merge_heads(learner, reference, rng):
    """merge_heads is right on new inputs, and it undoes split_heads."""
    for shape in ((2, 3, 5, 2), (1, 1, 1, 3), (3, 1, 2, 4), (2, 5, 5, 1), (4, 2, 2, 3)):
        agrees(learner.merge_heads, reference.merge_heads, rng.randn(*shape))
    agrees(learner.merge_heads, reference.merge_heads, rng.strided(2, 3, 4, 2))
    x = rng.randn(2, 4, 6)
    split = learner.split_heads(x, 3)
    expect_shape(split, (2, 3, 4, 2), "what split_heads gives")
    expect(learner.merge_heads(split), x, "what merge_heads makes of split_heads' result")


# Task 2


@task(2)
def test_fresh_project_heads(learner, reference, rng):
    """project_heads is right on new inputs and weights, for one head and for several."""
    for heads, tokens, d, d_out in ((3, 5, 4, 2), (1, 2, 3, 3), (2, 1, 2, 6), (4, 4, 4, 4), (2, 3, 5, 1)):
        agrees(learner.project_heads, reference.project_heads, rng.randn(tokens, d), rng.randn(heads, d_out, d))
    agrees(learner.project_heads, reference.project_heads, rng.strided(4, 3), rng.strided(2, 5, 3))


# Task 3


@task(3)
def test_parameters(learner):
    """The parameters have the names of the lesson, biases of W_query, W_key, W_value where asked for, and no others."""
    weights = {f"{name}.weight": (6, 4) for name in LAYERS} | {"out_proj.weight": (6, 6), "out_proj.bias": (6,)}
    biases = {f"{name}.bias": (6,) for name in LAYERS}
    plain = learner.MultiHeadAttention(4, 6, 5, 0.1, 3, seed=1)
    biased = learner.MultiHeadAttention(4, 6, 5, 0.1, 3, True, seed=2)
    has_parameters(plain, weights)
    has_parameters(biased, weights | biases)
    values = [value for layer in (plain, biased) for value in layer.parameters().values() if value.ndim == 2]
    if any(torch.equal(one, two) for index, one in enumerate(values) for two in values[:index]):
        raise Mismatch("two weight matrices hold the same numbers: draw each one separately, and set no seed yourself")


@task(3)
def test_fresh_multi_head(learner, reference, rng):
    """MultiHeadAttention is right on new inputs of other sizes, with and without bias, and for shorter sequences."""
    for index, (count, tokens, d_in, d_out, length, heads) in enumerate(SIZES):
        bias = (index % 2 == 1,) * (index > 0)
        mine, theirs = twins(learner, reference, rng, d_in, d_out, length, 0.0, heads, *bias)
        agrees(mine, theirs, rng.randn(count, tokens, d_in))
    mine, theirs = twins(learner, reference, rng, 4, 6, 7, 0.0, 2, True)
    x = rng.strided(2, 3, 4)
    x[0, 1] = 0.0  # a token like others
    agrees(mine, theirs, x)
    for count, tokens in ((2, 1), (1, 7), (3, 4)):
        agrees(mine, theirs, rng.randn(count, tokens, 4))


@task(3)
def test_no_look_ahead(learner, reference, rng):
    """The output of a token does not change when later tokens change, also where every score is 0."""
    for zero in ((), ("W_key.weight",), ("W_query.weight",)):
        mine, _ = twins(learner, reference, rng, 3, 4, 5, 0.0, 2, zero=zero)
        x = rng.randn(2, 5, 3)
        later = x.clone()
        later[:, 3:] = rng.randn(2, 2, 3)
        before, after = mine(x), mine(later)
        expect_shape(before, (2, 5, 4))
        expect_shape(after, (2, 5, 4))
        if not bool(before.isfinite().all()):
            raise Mismatch("the result holds NaN or an infinity")
        expect(after[:, :3], before[:, :3], "the part of the first 3 tokens, now that the last 2 are others,")


@task(3)
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
    layer = learner.MultiHeadAttention(4, 2, 5, 0.0, 2, state=state)
    # Head 0, all scores of a row alike: −10,000 | −10,000 | 10,000 | 0. Head 1: 10,000, 5,000, −5,000, −10,000.
    expect(
        layer(x[None]),
        torch.tensor([[[3.0, 3.0], [4.0, 3.0], [5.0, 3.0], [4.25, 3.0]]]),
        tolerance=LARGE_TOLERANCE,
    )


@task(3)
def test_uneven_heads(learner):
    """A ValueError is raised where num_heads does not divide d_out; d_in need not be divided."""
    learner.MultiHeadAttention(3, 4, 5, 0.0, 2)
    for d_in, d_out, heads in ((4, 6, 4), (2, 5, 2), (4, 2, 4)):
        refuses(ValueError, learner.MultiHeadAttention, d_in, d_out, 5, 0.0, heads)


# Task 4. To see the attention weights from outside, every token is a one-hot vector, W_value holds the
# identity twice for each head, and out_proj changes nothing: the output of a head is then its weights,
# and its weights again.


def visible(rng, tokens: int, heads: int = 2) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
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
    scores = (query.mT @ key / size**0.5).masked_fill(future, -torch.inf)  # (H, T, T)
    return state, torch.softmax(scores, dim=-1)


def kept_weights(output, weights: torch.Tensor) -> torch.Tensor:
    """Which weights stayed: (B, H, T, T) bool. Raises Mismatch where the rest is not dropout.

    Chances of a right answer to fail are below 1e-20: 2,112 weights are looked at.
    """
    heads, tokens, _ = weights.shape
    expect_shape(output, (2, tokens, 2 * heads * tokens))
    once, again = output.unflatten(-1, (heads, 2, tokens)).permute(3, 0, 2, 1, 4)  # (B, H, T, T) each
    seen = weights > 0
    if same(once, weights.expand_as(once)):
        raise Mismatch("in training mode nothing is dropped")
    if not same(once, again):
        raise Mismatch(
            "in training mode it is not the attention weights that are dropped: "
            "a dropped weight takes its token out of every number of the head's output"
        )
    zero = once.abs() < 1e-7
    if not bool(zero[..., torch.ones(tokens, tokens).triu(1).bool()].all()):
        raise Mismatch("in training mode a token sees the future")
    scaled = weights / (1 - RATE)
    if not bool((zero | ((once - scaled).abs() < 1e-4 * scaled)).all()):
        raise unlike_dropout(once, weights, zero)
    share = float(zero[:, seen].float().mean())
    if abs(share - RATE) > 0.15:
        few = "few" if share < RATE else "many"
        raise Mismatch(f"too {few} attention weights are dropped", f"dropped {share:.0%}, expected about {RATE:.0%}")
    return ~zero


def unlike_dropout(once, weights, zero) -> Mismatch:
    """What the weights in training mode are, where they are not 0 or divided by 1 − dropout."""
    if not bool(zero[:, weights > 0].any()):
        return Mismatch("in training mode no attention weight is 0: dropout belongs on the weights, after the softmax")
    if bool((zero | ((once - weights).abs() < 1e-4 * weights)).all()):
        return Mismatch("the attention weights that stay are not divided by 1 − dropout")
    sums = once.sum(dim=-1)
    if bool((((sums - 1).abs() < 1e-4) | (sums == 0) | sums.isnan()).all()):
        return Mismatch("in training mode the rows of weights still sum to 1: dropout comes last, after the softmax")
    return Mismatch("in training mode an attention weight is neither 0 nor the weight divided by 1 − dropout")


def drawn_apart(one: torch.Tensor, two: torch.Tensor, what: str) -> None:
    """Two draws differ in 2 · 0.3 · 0.7 = 42 % of the places; half of that is far out of reach of chance.

    one, two: (…, T, T), of which the places on and below the diagonal count.
    """
    places = torch.ones_like(one).tril()
    if float((one != two)[places].float().mean()) < 0.21:
        raise Mismatch(f"dropout draws alike for {what}: each attention weight is dropped by a draw of its own")


@task(4, after="fresh_multi_head")
def test_dropout_on_the_weights(learner, rng):
    """In training, a share of the attention weights is 0 and the others are divided by 1 − dropout."""
    state, weights = visible(rng, 32)
    x = torch.eye(32).repeat(2, 1, 1)  # (2, 32, 32)
    layer = learner.MultiHeadAttention(32, 128, 32, RATE, 2, state=state)
    kept = kept_weights(layer(x, seed=1), weights)  # (2, 2, 32, 32)
    drawn_apart(kept[0], kept[1], "all sequences of a batch")
    drawn_apart(kept[:, 0], kept[:, 1], "all heads")
    drawn_apart(kept[..., 1:, :-1], kept[..., :-1, :-1], "all queries")
    drawn_apart(kept[..., 1:, 1:], kept[..., 1:, :-1], "all keys")
    drawn_apart(kept, kept_weights(layer.eval().train()(x, seed=2), weights), "each call")


@task(4, after="fresh_multi_head")
def test_dropout_off(learner, reference, rng):
    """In eval mode, and with dropout=0.0, nothing is dropped."""
    x = rng.randn(2, 5, 3)
    mine, theirs = twins(learner, reference, rng, 3, 4, 6, 0.5, 2)
    mine.eval(), theirs.eval()
    agrees(mine, theirs, x)
    mine, theirs = twins(learner, reference, rng, 3, 4, 6, 0.0, 2)
    agrees(mine.train(), theirs, x)


# All tasks


@task(4, each=FUNCTIONS)
def test_gradients(learner, reference, rng):
    """Gradients reach the inputs and every parameter, and they are correct."""
    same_gradients(learner.split_heads, reference.split_heads, rng.randn(2, 3, 4), 2)
    same_gradients(learner.merge_heads, reference.merge_heads, rng.randn(2, 3, 4, 2))
    same_gradients(learner.project_heads, reference.project_heads, rng.randn(4, 3), rng.randn(2, 5, 3))
    mine, theirs = twins(learner, reference, rng, 3, 4, 5, 0.0, 2, True)
    same_gradients(mine, theirs, rng.randn(2, 5, 3))


@task(4, each=FUNCTIONS)
def test_dtype_and_device(learner, reference, rng):
    """The results have the dtype and the device of the inputs; a moved layer works, in training with dropout too."""
    keeps_dtype(learner.split_heads, reference.split_heads, rng.randn(2, 3, 4), 2)
    keeps_dtype(learner.merge_heads, reference.merge_heads, rng.randn(2, 3, 4, 2))
    keeps_dtype(learner.project_heads, reference.project_heads, rng.randn(4, 3), rng.randn(2, 5, 3))
    keeps_device(learner.split_heads, rng.randn(2, 3, 4), 2)
    keeps_device(learner.merge_heads, rng.randn(2, 3, 4, 2))
    keeps_device(learner.project_heads, rng.randn(4, 3), rng.randn(2, 5, 3))
    x = rng.randn(2, 4, 3)
    mine, theirs = twins(learner, reference, rng, 3, 4, 5, RATE, 2, True)
    mine.eval(), theirs.eval()
    keeps_dtype(mine, theirs, x)
    mine.train()
    for dtype in (torch.bfloat16, torch.float64):
        result = mine.to(dtype=dtype)(x.to(dtype))
        expect_shape(result, (2, 4, 4))
        if result.dtype != dtype:
            raise Mismatch(f"in training the result has dtype {str(result.dtype)[6:]}; expected {str(dtype)[6:]}")
    mine.to(dtype=torch.float32)
    agrees(mine.eval(), theirs.to(dtype=torch.float32), x)  # the call before the move
    keeps_device(mine.train(), x)


@task(4, each=FUNCTIONS)
def test_inputs_unchanged(learner, reference, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    keeps_inputs(learner.split_heads, rng.randn(2, 3, 4), 2)
    keeps_inputs(learner.merge_heads, rng.randn(2, 3, 4, 2))
    keeps_inputs(learner.project_heads, rng.randn(4, 3), rng.randn(2, 5, 3))
    mine, theirs = twins(learner, reference, rng, 3, 4, 5, 0.0, 2, True)
    keeps_inputs(mine, rng.randn(2, 4, 3))
    expect(mine.parameters(), theirs.parameters(), "the parameters after the calls")


@task(4, each=FUNCTIONS)
def test_argument_names(learner, rng):
    """The arguments of the functions and of the class have the names used in the lesson, and x of the layer."""
    learner.split_heads(x=rng.randn(1, 2, 4), num_heads=2)
    learner.merge_heads(x=rng.randn(1, 2, 3, 2))
    learner.project_heads(inputs=rng.randn(2, 3), weights=rng.randn(2, 4, 3))
    sizes = {"d_in": 3, "d_out": 4, "context_length": 5, "dropout": 0.0, "num_heads": 2, "qkv_bias": True}
    learner.MultiHeadAttention(**sizes)(x=rng.randn(1, 5, 3))
