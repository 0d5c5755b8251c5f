"""Hidden checks: fresh inputs against the solution, and what must hold for any input."""

import torch

from grader.authors import (
    LARGE_TOLERANCE,
    agrees,
    expect,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    same_gradients,
    task,
)

FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "mask_then_renormalize": "fresh_renormalized_weights",
    "mask_scores": "fresh_masked_scores",
    "causal_attention_weights": "fresh_causal_weights",
}

# Leading dimensions and T: one sequence, batches, heads. Some equal to T: a mask of the wrong
# dimensions then fits, and must not be right.
SHAPES = (((), 5), ((), 1), ((3,), 3), ((2,), 9), ((1,), 4), ((2, 3), 4), ((4, 4), 4))
MANY = 260  # tokens, once for each mask: more than a mask of a fixed size is for

# Scores up to ±10,000 with d_k = 4. In the first three rows the hidden ones are far above the visible ones,
# in the last one the best is only a little better than the next, for numbers of this size.
LARGE_SCORES = torch.tensor(
    [
        [-10_000.0, 10_000.0, 0.0, 10_000.0],
        [-10_000.0, -10_000.0, -10_000.0, 10_000.0],
        [0.0, 0.0, 0.0, 10_000.0],
        [9_000.0, 10_000.0, -10_000.0, 0.0],
    ]
)
LARGE_WEIGHTS = torch.tensor([[1.0, 0, 0, 0], [1 / 2, 1 / 2, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0], [0, 1.0, 0, 0]])


def fresh_scores(rng):
    """Scores of many shapes, some with many zeros, some not contiguous."""
    for lead, tokens in SHAPES:
        yield rng.randn(*lead, tokens, tokens)
    yield rng.integers(-1, 2, 2, 6, 6, dtype=torch.float32)
    yield torch.zeros(5, 5)
    yield rng.strided(2, 5, 5)


def fresh_weights(rng):
    """Attention weights of many shapes, some with zeros after the diagonal, some not contiguous."""
    for scores in fresh_scores(rng):
        yield torch.softmax(scores / 2, dim=-1)
    yield torch.eye(4)
    yield torch.softmax(rng.randn(2, 5, 5) / 2, dim=1).mT  # rows sum to 1, the columns lie in memory


@task(1)
def test_fresh_causal_mask(learner, reference):
    """causal_mask is right for any number of tokens, and holds True and False."""
    for tokens in (5, 1, 2, 17, 4, 3, MANY):
        agrees(learner.causal_mask, reference.causal_mask, tokens)


@task(2)
def test_fresh_renormalized_weights(learner, reference, rng):
    """mask_then_renormalize is right for new weights: one sequence, batches, heads."""
    for weights in fresh_weights(rng):
        agrees(learner.mask_then_renormalize, reference.mask_then_renormalize, weights)
    weights = torch.softmax(rng.randn(3, 3), dim=-1)
    agrees(learner.mask_then_renormalize, reference.mask_then_renormalize, weights)
    many = torch.softmax(rng.randn(MANY, MANY), dim=-1)
    agrees(learner.mask_then_renormalize, reference.mask_then_renormalize, many)
    ahead = torch.softmax(rng.randn(4, 4) + 14 * torch.ones(4, 4).triu(diagonal=1), dim=-1)
    agrees(learner.mask_then_renormalize, reference.mask_then_renormalize, ahead)  # a millionth is left of some rows


@task(3)
def test_fresh_masked_scores(learner, reference, rng):
    """mask_scores is right for new scores: -inf only above the diagonal, even where scores are 0."""
    for scores in fresh_scores(rng):
        agrees(learner.mask_scores, reference.mask_scores, scores)
    agrees(learner.mask_scores, reference.mask_scores, rng.randn(3, 3))
    agrees(learner.mask_scores, reference.mask_scores, rng.randn(MANY, MANY))


@task(4)
def test_fresh_causal_weights(learner, reference, rng):
    """causal_attention_weights is right for new scores and any d_k: one sequence, batches, heads."""
    for index, scores in enumerate(fresh_scores(rng)):
        agrees(learner.causal_attention_weights, reference.causal_attention_weights, scores, (5, 1, 16)[index % 3])
    agrees(learner.causal_attention_weights, reference.causal_attention_weights, rng.randn(3, 3), 7)
    agrees(learner.causal_attention_weights, reference.causal_attention_weights, rng.randn(MANY, MANY), 7)


@task(4)
def test_future_stays_hidden(learner, rng):
    """Other scores above the diagonal change nothing: the past is independent of the future."""
    scores = rng.rand(2, 5, 5)
    other = scores.tril() + (1 + rng.rand(2, 5, 5)).triu(diagonal=1)
    first, second = torch.softmax(scores, dim=-1), torch.softmax(other, dim=-1)
    for target, before, after in (
        (learner.mask_then_renormalize, (first,), (second,)),
        (learner.mask_scores, (scores,), (other,)),
        (learner.causal_attention_weights, (scores, 5), (other, 5)),
    ):
        result = target(*before)
        expect(target(*after), result, f"{target.name}, when only the future is another,")


@task(4)
def test_large_scores(learner):
    """Scores of ±10,000 give no NaN, and even then no weight falls on the future."""
    scores = torch.stack([LARGE_SCORES, torch.full((4, 4), -10_000.0)])  # (2, 4, 4)
    hidden = torch.ones(4, 4, dtype=torch.bool).triu(diagonal=1)
    equal = torch.ones(4, 4).tril() / torch.arange(1.0, 5.0).unsqueeze(1)
    expect(learner.mask_scores(scores), scores.masked_fill(hidden, -torch.inf), "mask_scores of large scores")
    weights = learner.causal_attention_weights(scores, 4)
    expect(weights, torch.stack([LARGE_WEIGHTS, equal]), "causal_attention_weights of large scores", LARGE_TOLERANCE)


# What mask_then_renormalize divides by shows in its gradients alone, so they do not wait for its values.
# mask_then_renormalize waits for nothing: its gradients tell two mistakes apart.
@task(4, each={name: FUNCTIONS[name] for name in ("mask_scores", "causal_attention_weights")})
def test_gradients(learner, reference, rng):
    """Gradients reach the scores and the weights, and they are correct."""
    scores = rng.randn(2, 4, 4)
    same_gradients(learner.mask_then_renormalize, reference.mask_then_renormalize, torch.softmax(scores, dim=-1))
    got, expected = learner.mask_scores.gradients(scores), reference.mask_scores.gradients(scores)
    expect(got["argument 0"].tril(), expected["argument 0"].tril(), "the gradient of the scores that are not masked")
    same_gradients(learner.causal_attention_weights, reference.causal_attention_weights, scores, 5)


@task(4, each=FUNCTIONS)
def test_dtype_and_device(learner, reference, rng):
    """The results keep the dtype and the device of the inputs."""
    scores = rng.randn(2, 4, 4)
    for name, arguments in (
        ("mask_then_renormalize", (torch.softmax(scores / 4, dim=-1),)),
        ("mask_scores", (scores,)),
        ("causal_attention_weights", (scores, 5)),
    ):
        keeps_dtype(getattr(learner, name), getattr(reference, name), *arguments)
        keeps_device(getattr(learner, name), *arguments)


@task(4, each=FUNCTIONS | {"causal_mask": "fresh_causal_mask"})
def test_inputs_unchanged(learner, rng):
    """Calling it twice gives the same result, and nothing you pass in is modified."""
    scores = rng.randn(2, 4, 4)
    keeps_inputs(learner.causal_mask, 4)
    keeps_inputs(learner.mask_then_renormalize, torch.softmax(scores, dim=-1))
    keeps_inputs(learner.mask_scores, scores)
    keeps_inputs(learner.causal_attention_weights, scores, 5)


@task(4, each=FUNCTIONS | {"causal_mask": "fresh_causal_mask"})
def test_argument_names(learner, rng):
    """The arguments have the names used in the lesson: T, weights, scores, and d_k."""
    learner.causal_mask(T=4)
    learner.mask_then_renormalize(weights=torch.softmax(rng.randn(4, 4), dim=-1))
    learner.mask_scores(scores=rng.randn(4, 4))
    learner.causal_attention_weights(scores=rng.randn(4, 4), d_k=5)
