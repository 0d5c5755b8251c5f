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
    same_gradients,
    task,
)

FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "AttentionHead": "fresh_head",
    "MultiHeadSelfAttention": "fresh_multi_head",
    "CausalHead": "fresh_causal_head",
}

# (embed_dim, head_size): and the (B, T) of the inputs that the same layer is given one after the other.
HEADS = {
    (3, 6): ((2, 5), (1, 1)),
    (4, 4): ((4, 4),),
    (6, 2): ((3, 6), (6, 3)),
    (7, 1): ((2, 11),),
}
MANY_HEADS = {  # (embed_dim, num_heads)
    (4, 1): ((2, 5),),
    (4, 4): ((4, 4),),
    (6, 3): ((2, 7), (1, 1)),
}


def twins(learner, reference, rng, name, *args, **kwargs):
    """The learner's object and the solution's, with the same random weights and biases, none of them zero."""
    theirs = getattr(reference, name)(*args, **kwargs)
    state = {key: rng.randn(*value.shape) for key, value in theirs.parameters().items()}
    for value in state.values():
        value /= value.shape[1] ** 0.5 if value.ndim == 2 else 2.0
    theirs.load(state)
    return getattr(learner, name)(*args, state=state, **kwargs), theirs


def right_on(learner, reference, rng, name, sizes):
    """The class is right for these sizes, for inputs in and out of order in memory."""
    for args, shapes in sizes.items():
        mine, theirs = twins(learner, reference, rng, name, *args)
        for count, tokens in shapes:
            agrees(mine, theirs, rng.randn(count, tokens, args[0]))
    x = rng.strided(2, 3, args[0])
    x[0, 1] = 0.0  # a token like others
    agrees(mine, theirs, x)


def follows_the_seed(one, two) -> None:
    """No matrix of one object is in the other or in the same one again."""
    values = [value for layer in (one, two) for value in layer.parameters().values() if value.ndim == 2]
    if any(torch.equal(a, b) for index, a in enumerate(values) for b in values[:index]):
        raise Mismatch("two weight matrices hold the same numbers: draw each one separately, and set no seed yourself")


# Task 1


@task(1)
def test_head_parameters(learner):
    """AttentionHead has the weights of query, key and value, no bias, and nothing else to train."""
    shapes = {f"{name}.weight": (5, 4) for name in ("query", "key", "value")}
    one, two = learner.AttentionHead(4, 5, seed=1), learner.AttentionHead(4, 5, seed=2)
    has_parameters(one, shapes)
    has_parameters(two, shapes)
    follows_the_seed(one, two)


@task(1)
def test_fresh_head(learner, reference, rng):
    """AttentionHead is right on new inputs of other sizes, with any weights."""
    right_on(learner, reference, rng, "AttentionHead", HEADS)


# Task 2


@task(2)
def test_multi_head_parameters(learner):
    """MultiHeadSelfAttention has heads.0, heads.1, … with weights of their own, and output_linear with a bias."""
    shapes = {f"heads.{head}.{name}.weight": (2, 6) for head in range(3) for name in ("query", "key", "value")}
    shapes |= {"output_linear.weight": (6, 6), "output_linear.bias": (6,)}
    one, two = (learner.MultiHeadSelfAttention(6, 3, seed=seed) for seed in (1, 2))
    has_parameters(one, shapes)
    has_parameters(two, shapes)
    follows_the_seed(one, two)


@task(2)
def test_fresh_multi_head(learner, reference, rng):
    """MultiHeadSelfAttention is right on new inputs, for one head and for several."""
    right_on(learner, reference, rng, "MultiHeadSelfAttention", MANY_HEADS)


@task(2)
def test_uneven_heads(learner):
    """MultiHeadSelfAttention raises a ValueError where num_heads does not divide embed_dim."""
    learner.MultiHeadSelfAttention(6, 2)
    for embed_dim, num_heads in ((6, 4), (5, 2), (2, 4)):
        refuses(ValueError, learner.MultiHeadSelfAttention, embed_dim, num_heads)


# Task 3


@task(3)
def test_causal_head_parameters(learner):
    """CausalHead has the weights and biases of key, query, value and out, and nothing else to train."""
    shapes = {f"{name}.weight": (5, 4) for name in ("key", "query", "value")} | {"out.weight": (4, 5)}
    shapes |= {f"{name}.bias": (5,) for name in ("key", "query", "value")} | {"out.bias": (4,)}
    one, two = learner.CausalHead(4, 5, seed=1), learner.CausalHead(4, 5, seed=2)
    has_parameters(one, shapes)
    has_parameters(two, shapes)
    follows_the_seed(one, two)


@task(3)
def test_fresh_causal_head(learner, reference, rng):
    """CausalHead is right on new inputs of other sizes, with any weights and biases."""
    right_on(learner, reference, rng, "CausalHead", HEADS)


@task(3)
def test_no_look_ahead(learner, reference, rng):
    """In CausalHead, the output of a token does not change when the tokens after it change."""
    layer, _ = twins(learner, reference, rng, "CausalHead", 4, 3)
    x = rng.randn(2, 6, 4)
    later = x.clone()
    later[:, 4:] = rng.randn(2, 2, 4)
    before, after = layer(x), layer(later)
    expect_shape(before, (2, 6, 4))
    expect_shape(after, (2, 6, 4))
    expect(after[:, :4], before[:, :4], "the part of the first 4 tokens, now that the last 2 are others,")


@task(3, after="fresh_causal_head")
def test_zero_scores(learner, rng):
    """In CausalHead, scores that are exactly 0 are masked after the token, and count before it."""
    values = rng.integers(-4, 5, 4, 4, dtype=torch.float32)
    layer = learner.CausalHead(4, 4, state=causal_state(torch.eye(4), torch.eye(4), values))
    x = torch.eye(4).expand(1, 4, 4)  # (1, 4, 4), so each token scores 1 with itself and 0 with the others
    weights = torch.eye(4).masked_fill(torch.ones(4, 4).triu(1).bool(), -torch.inf).softmax(dim=-1)
    expect(layer(x.contiguous()), weights @ values.mT.expand(1, 4, 4))


def causal_state(key, query, value):
    """The parameters of a causal head whose biases are 0 and whose output layer changes nothing."""
    state = {"key.weight": key, "query.weight": query, "value.weight": value, "out.weight": torch.eye(len(value))}
    return state | {
        f"{name}.bias": torch.zeros(len(state[f"{name}.weight"])) for name in ("key", "query", "value", "out")
    }


# All tasks


@task(3)
def test_large_scores(learner, rng):
    """Scores of ±10,000 give no NaN in any class, and no glance at the future in CausalHead."""
    values = rng.integers(-4, 5, 4, 2, dtype=torch.float32)
    x = torch.tensor([[[100.0, 0.0], [0.0, 50.0], [-80.0, 0.0]]])  # the head's scores: −8,000 to 10,000, then halved
    wide = torch.eye(4, 2)
    state = {"query.weight": wide, "key.weight": wide, "value.weight": values}
    expected = x[:, [0, 1, 2]] @ values.mT  # each token finds itself alone
    expect(learner.AttentionHead(2, 4, state=state)(x), expected, tolerance=LARGE_TOLERANCE)

    square = torch.eye(2)
    state = {f"heads.0.{name}.weight": square for name in ("query", "key", "value")}
    state |= {"output_linear.weight": square, "output_linear.bias": torch.zeros(2)}
    expect(learner.MultiHeadSelfAttention(2, 1, state=state)(x), x, tolerance=LARGE_TOLERANCE)

    # Causal. Scores: −10,000 | −10,000 twice | 10,000 twice and 5,000 | 0 four times. Each row averages the largest.
    x = torch.tensor([[[-1.0, 0.0, 2.0, 3.0], [-1.0, 0.0, 2.0, 5.0], [0.0, 1.0, 1.0, 7.0], [0.0, 0.0, 1.0, 2.0]]])
    key = torch.tensor([[100.0, 0.0, 0.0, 0.0], [0.0, 100.0, 0.0, 0.0]])
    query = torch.tensor([[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 50.0, 0.0]])  # and 100 as bias
    state = causal_state(key, query, torch.tensor([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]]))
    state |= {"query.bias": torch.tensor([100.0, 0.0]), "out.weight": torch.ones(4, 2), "out.bias": torch.zeros(4)}
    expected = torch.tensor([3.0, 4.0, 4.0, 4.25]).reshape(1, 4, 1).expand(1, 4, 4)
    expect(learner.CausalHead(4, 2, state=state)(x), expected, tolerance=LARGE_TOLERANCE)


@task(3, each=FUNCTIONS)
def test_gradients(learner, reference, rng):
    """Gradients reach the inputs and every parameter, and they are correct."""
    x = rng.randn(2, 4, 6)
    for name, args in (("AttentionHead", (6, 3)), ("MultiHeadSelfAttention", (6, 3)), ("CausalHead", (6, 5))):
        mine, theirs = twins(learner, reference, rng, name, *args)
        same_gradients(mine, theirs, x)


@task(3, each=FUNCTIONS)
def test_dtype_and_device(learner, reference, rng):
    """The results have the dtype and the device of the layers and their inputs."""
    x = rng.randn(2, 4, 6)
    for name, args in (("AttentionHead", (6, 3)), ("MultiHeadSelfAttention", (6, 3)), ("CausalHead", (6, 5))):
        mine, theirs = twins(learner, reference, rng, name, *args)
        keeps_dtype(mine, theirs, x)
        keeps_device(mine.to(dtype=torch.float32), x)


@task(3, each=FUNCTIONS)
def test_inputs_unchanged(learner, reference, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    x = rng.randn(2, 4, 6)
    for name, args in (("AttentionHead", (6, 3)), ("MultiHeadSelfAttention", (6, 3)), ("CausalHead", (6, 5))):
        mine, theirs = twins(learner, reference, rng, name, *args)
        keeps_inputs(mine, x)
        expect(mine.parameters(), theirs.parameters(), "the parameters after the calls")


@task(3, each=FUNCTIONS)
def test_argument_names(learner, rng):
    """The arguments of the three classes have the names used in the lesson, and x of the layers."""
    for layer in (
        learner.AttentionHead(embed_dim=4, head_size=2),
        learner.MultiHeadSelfAttention(embed_dim=4, num_heads=2),
        learner.CausalHead(embed_dim=4, head_size=2),
    ):
        layer(x=rng.randn(2, 3, 4))


# Last, so that the other checks have run where a busy machine stops this one. 2,100 tokens are more than most masks
# that are made in advance have, and a quarter of the work of 4,100.
@task(3, after="fresh_causal_head")
def test_many_tokens(learner, reference, rng):
    """CausalHead is right for 2,100 tokens: no number of tokens is too large."""
    mine, theirs = twins(learner, reference, rng, "CausalHead", 2, 1)
    agrees(mine, theirs, rng.randn(1, 2100, 2))
