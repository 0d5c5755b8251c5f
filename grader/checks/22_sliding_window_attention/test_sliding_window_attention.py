"""Hidden checks: fresh inputs against masked attention over all tokens, in float64; many tokens within 512 MiB."""

import torch

from grader.authors import (
    LARGE_TOLERANCE,
    Mismatch,
    expect,
    expect_shape,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    same_gradients,
    task,
)

ATTENTION = ("fresh_attention", "many_tokens")
# (B, H, T, h, window)
SIZES = ((2, 3, 8, 7, 3), (1, 2, 7, 5, 1), (3, 1, 6, 2, 2), (2, 2, 9, 3, 8), (1, 1, 1, 1, 1), (1, 4, 12, 4, 5))
MANY = (
    (1, 2, 150, 4, 7),
    (2, 1, 129, 3, 64),
    (1, 1, 200, 8, 70),
    (1, 1, 300, 2, 150),
    (1, 1, 1100, 2, 7),
)  # no number divides another
WIDE = ((2, 2, 6, 4, 6), (1, 3, 5, 2, 7), (1, 1, 4, 3, 1000), (1, 1, 1, 2, 3), (1, 1, 90, 4, 90))
TOKENS, SIZE, WINDOW = 16_384, 32, 64
ALLOWED = 512  # MiB; a table of TOKENS × TOKENS float32 takes 1,024
LOOKED_AT = 48  # queries of the many whose result is compared


def attention(query, keys, values, window: int) -> torch.Tensor:
    """The truth: attention over all tokens with a mask, in float64, as the inputs' dtype."""
    T = query.shape[-2]
    seen = torch.ones(T, T, dtype=torch.bool).tril().triu(1 - window)
    whole = torch.nn.functional.scaled_dot_product_attention
    return whole(query.double(), keys.double(), values.double(), attn_mask=seen).to(query.dtype)


def three(rng, *shape: int) -> list[torch.Tensor]:
    """Queries and keys whose scores differ clearly, and values."""
    return [2 * rng.randn(*shape), rng.randn(*shape), rng.randn(*shape)]


def matches(learner, inputs, window: int) -> None:
    expect(learner.sliding_window_attention(*inputs, window), attention(*inputs, window))


def first_difference(got: torch.Tensor, expected: torch.Tensor) -> int:
    """The first token whose result differs; 0 where none does."""
    wrong = ~torch.isclose(got.double(), expected.double(), rtol=0, atol=1e-3).all(dim=-1)  # (B, H, T)
    return int(wrong.flatten(0, -2).any(dim=0).byte().argmax())


# Task 1


@task(1)
def test_fresh_mask(learner, rng):
    """Your mask is right for any number of tokens and any window, even a window larger than the text."""
    for T, window in ((6, 2), (7, 1), (5, 5), (4, 9), (1, 1), (2, 1), (rng.integer(9, 14), rng.integer(3, 8))):
        distance = torch.arange(T)[:, None] - torch.arange(T)
        expect(learner.sliding_window_mask(T, window), (distance >= 0) & (distance < window), "the mask")
    expect(learner.sliding_window_mask(3, 2), torch.tensor([[1, 0, 0], [1, 1, 0], [0, 1, 1]]).bool())


# Task 2


@task(2)
def test_fresh_attention(learner, rng):
    """Your attention gives what attention over all tokens gives with the mask of task 1."""
    for *shape, window in SIZES:
        matches(learner, three(rng, *shape), window)
    query, keys, values = (rng.strided(2, 2, 5, 3) for _ in range(3))
    query[:, :, 3], keys[:, :, 1] = 0.0, 0.0  # tokens like others
    got = learner.sliding_window_attention(query, keys, values, 2)
    expect(got, attention(query, keys, values, 2))


@task(2, after="fresh_attention")
def test_many_tokens(learner, rng):
    """More tokens are right, too, whether or not the window divides their number."""
    for *shape, window in MANY:
        inputs = three(rng, *shape)
        expected = attention(*inputs, window)
        got = learner.sliding_window_attention(*inputs, window)
        expect_shape(got, expected.shape)
        first = first_difference(got, expected)
        if first and torch.equal(got[..., first, :], inputs[2][..., first, :]):
            summary = "the first token of a block sees only itself: it needs up to window − 1 keys of the block before"
            raise Mismatch(summary, f"that is token {first} of {got.shape[-2]}; all tokens before it are right")
        if first and got[..., first, :].isnan().all():
            summary = (
                "the first wrong token is NaN, like a row that sees nothing: count rows and columns of a mask alike"
            )
            raise Mismatch(summary, f"token {first} of {got.shape[-2]} is NaN; all tokens before it are right")
        expect(got, expected)


@task(2, after="fresh_attention")
def test_wide_window(learner, rng):
    """A window that holds all tokens, or more, gives causal attention."""
    for *shape, window in WIDE:
        inputs = three(rng, *shape)
        whole = torch.nn.functional.scaled_dot_product_attention
        causal = whole(*(tensor.double() for tensor in inputs), is_causal=True).float()
        expect(learner.sliding_window_attention(*inputs, window), causal)


@task(2)
def test_out_of_sight(learner, rng):
    """Keys and values outside of a token's window change nothing for it, however large they are."""
    query, keys, values = three(rng, 1, 2, 9, 4)
    other_keys, other_values = keys.clone(), values.clone()
    for place in (0, 1, 7, 8):  # the token at 4 sees 2, 3 and itself
        other_keys[..., place, :], other_values[..., place, :] = 50 * rng.randn(2, 4), 1e4 * rng.randn(2, 4)
    before = learner.sliding_window_attention(query, keys, values, 3)
    after = learner.sliding_window_attention(query, other_keys, other_values, 3)
    expect_shape(before, (1, 2, 9, 4))
    expect_shape(after, (1, 2, 9, 4))
    expect(after[..., 4, :], before[..., 4, :], "the result of the token at position 4, now that the others changed,")


@task(2)
def test_large_scores(learner):
    """Very large scores (±10,000) give no NaN and no infinity, even if a token sees nothing but −10,000."""
    keys = torch.tensor([[100.0, 0.0], [-100.0, 0.0], [-100.0, 0.0], [100.0, 0.0], [100.0, 0.0]])[None, None]
    query = torch.full((1, 1, 5, 2), 100 * 2**0.5)
    values = torch.tensor([1.0, 2.0, 4.0, 8.0, 16.0]).reshape(1, 1, 5, 1).expand(1, 1, 5, 2).contiguous()
    expected = torch.tensor([1.0, 1.0, 3.0, 8.0, 12.0]).reshape(1, 1, 5, 1).expand(1, 1, 5, 2)
    expect(
        learner.sliding_window_attention(query, keys, values, 2),
        expected.contiguous(),
        tolerance=LARGE_TOLERANCE,
    )


@task(2, after=ATTENTION)
def test_gradients(learner, reference, rng):
    """Gradients flow back to queries, keys and values, and they are correct."""
    same_gradients(learner.sliding_window_attention, reference.sliding_window_attention, *three(rng, 2, 2, 6, 4), 3)
    same_gradients(learner.sliding_window_attention, reference.sliding_window_attention, *three(rng, 1, 1, 140, 2), 66)


@task(2, after=ATTENTION)
def test_dtype_and_device(learner, reference, rng):
    """The result keeps the dtype and device of the inputs."""
    inputs = three(rng, 1, 2, 6, 4)
    keeps_dtype(learner.sliding_window_attention, reference.sliding_window_attention, *inputs, 3)
    keeps_device(learner.sliding_window_attention, *inputs, 3)


@task(2, after=ATTENTION)
def test_inputs_unchanged(learner, rng):
    """Calling your function twice gives the same result, and it doesn't change the inputs."""
    for window in (3, 6, 9):  # some of the tokens, all of them, and more
        keeps_inputs(learner.sliding_window_attention, *three(rng, 1, 2, 6, 4), window)


@task(2, each={"sliding_window_mask": "fresh_mask", "sliding_window_attention": ATTENTION})
def test_argument_names(learner, rng):
    """Arguments have the names used in the lesson: T and window; query, keys, values and window."""
    learner.sliding_window_mask(T=4, window=2)
    names = ("query", "keys", "values")
    learner.sliding_window_attention(**dict(zip(names, three(rng, 1, 2, 6, 4), strict=True)), window=3)


# Task 3


@task(3, after=ATTENTION)
def test_memory(learner, rng, within_memory):
    """16,384 tokens with a window of 64 take less than 512 MiB, and the result is right."""
    inputs = three(rng, 1, 1, TOKENS, SIZE)
    got = within_memory(learner.sliding_window_attention, *inputs, WINDOW, mebibytes=ALLOWED)
    expect(tuple(got.shape) if isinstance(got, torch.Tensor) else got, (1, 1, TOKENS, SIZE))
    for place in (0, WINDOW - 1, WINDOW, TOKENS - 1, *(rng.integer(0, TOKENS) for _ in range(LOOKED_AT))):
        near = [tensor[..., max(0, place - WINDOW + 1) : place + 1, :] for tensor in inputs]
        expected = attention(*near, WINDOW)[..., -1, :]  # of its window the token is the last
        expect(got[..., place, :], expected, "the result for one of the tokens")
