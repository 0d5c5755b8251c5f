"""Hidden checks: fresh inputs against rotation of complex numbers in float64, and the identities of the paper."""

import torch

from grader.authors import Mismatch, expect, expect_shape, keeps_device, keeps_inputs, task

ROOM = 1e-3  # of an angle, and so of its cosine and sine: float32 has no more at position 4,096
TURNED = ("fresh_turned", "fresh_offset")
FUNCTIONS = {  # the functions, each with the checks that promises about it build on
    "rope_angles": "fresh_angles",
    "apply_rope": TURNED,
}


def angles(head_dim: int, positions: int, base: float = 10_000.0) -> torch.Tensor:
    """The angle of each position and pair: (positions, head_dim / 2) float64."""
    pairs = torch.arange(head_dim // 2, dtype=torch.float64)
    return torch.arange(positions)[:, None] * base ** (-2 * pairs / head_dim)


def tables(*args) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and sin in the half layout, float32."""
    both = angles(*args).repeat(1, 2)
    return both.cos().float(), both.sin().float()


def turned(x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    """The truth: numbers i and i + h / 2 are the two parts of a complex number, which is multiplied by e^(i·by)."""
    first, second = x.double().chunk(2, dim=-1)
    result = torch.complex(first, second) * torch.polar(torch.ones_like(by), by)
    return torch.cat([result.real, result.imag], dim=-1).to(x.dtype)


def expect_tables(got, expected) -> None:
    """cos and sin are right to ROOM."""
    if not isinstance(got, (tuple, list)) or len(got) != 2:
        expect(got, expected)  # says what it is instead
    for name, mine, theirs in zip(("cos", "sin"), got, expected, strict=True):
        expect(mine, theirs, name, tolerance=ROOM)


# Task 1


@task(1)
def test_fresh_angles(learner):
    """rope_angles is right for other sizes and bases, in any order of calls."""
    for args in ((8, 5), (2, 6), (6, 1), (8, 9), (64, 20), (8, 5, 100.0), (12, 12, 500_000.0), (4, 30, 2.0)):
        expect_tables(learner.rope_angles(*args), tables(*args))
    expect_tables(learner.rope_angles(10, 7, 50.0), tables(10, 7, 50.0))


@task(1, after="fresh_angles")
def test_far_positions(learner):
    """Your angles are right to 0.001 up to position 4,096."""
    for args in ((4, 4097), (6, 4097, 500_000.0)):
        expect_tables(learner.rope_angles(*args), tables(*args))


# Task 2


@task(2)
def test_fresh_turned(learner, rng):
    """apply_rope turns new inputs of any size by the angles of their positions."""
    for batch, heads, tokens, size, length in (
        (2, 3, 5, 8, 5),
        (3, 5, 2, 4, 9),
        (1, 1, 1, 2, 1),
        (5, 2, 4, 6, 7),
        (2, 4, 4, 4, 4),
        (1, 7, 6, 16, 8),
    ):
        x = rng.randn(batch, heads, tokens, size)
        expect(learner.apply_rope(x, *tables(size, length)), turned(x, angles(size, tokens)))
    x, (cos, sin) = rng.strided(2, 3, 4, 6), tables(6, 5, 20.0)
    expect(learner.apply_rope(x, cos, sin), turned(x, angles(6, 4, 20.0)))


@task(2, after="documented_turned")
def test_lengths_kept(learner, rng):
    """Turning keeps the length of every pair, and doesn't change the token at position 0."""
    x, by = rng.randn(2, 3, 6, 8), tables(8, 6, 5.0)
    got = learner.apply_rope(x, *by)
    expect_shape(got, (2, 3, 6, 8))
    expect(got[:, :, 0], x[:, :, 0], "the token at position 0")
    expect(lengths(got), lengths(x), "the length of each pair", tolerance=1e-4)


def lengths(x: torch.Tensor) -> torch.Tensor:
    """The length of each pair (i, i + h / 2)."""
    return x.unflatten(-1, (2, -1)).norm(dim=-2)


@task(2, after=("documented_angles", "documented_turned"))
def test_distance_alone(learner, rng):
    """With your own angles, a score depends only on the distance of two tokens; at distance 0 it doesn't change."""
    by = learner.rope_angles(14, 12, 50.0)
    query, key = rng.randn(1, 2, 1, 14), rng.randn(1, 2, 1, 14)
    queries = learner.apply_rope(query.repeat(1, 1, 12, 1), *by)
    keys = learner.apply_rope(key.repeat(1, 1, 12, 1), *by)
    expect_shape(queries, (1, 2, 12, 14))
    expect_shape(keys, (1, 2, 12, 14))
    scores = queries @ keys.mT  # (1, 2, 12, 12)
    expect(scores[..., 1:, 1:], scores[..., :-1, :-1], "the score of two tokens, one position later,", tolerance=2e-4)
    plain = (query @ key.mT).expand(1, 2, 12, 1)
    expect(scores.diagonal(dim1=-2, dim2=-1)[..., None], plain, "the score at distance 0", tolerance=2e-4)


# Task 3


@task(3, after="fresh_turned")
def test_fresh_offset(learner, rng):
    """The offset is the position of the first token, whether one token comes or several."""
    by = tables(6, 11, 30.0)
    for tokens, offset in ((1, 4), (3, 2), (4, 7), (5, 0), (1, 10), (2, 5)):
        x = rng.randn(2, 3, tokens, 6)
        expect(learner.apply_rope(x, *by, offset), turned(x, angles(6, 11, 30.0)[offset : offset + tokens]))
    x = rng.randn(1, 2, 3, 6)
    expect(learner.apply_rope(x, *by, 6), turned(x, angles(6, 11, 30.0)[6:9]))


# All tasks


@task(3, each=FUNCTIONS)
def test_inputs_unchanged(learner, rng):
    """Your functions don't change x, cos or sin, and a second call gives the same result."""
    keeps_inputs(learner.apply_rope, rng.randn(2, 3, 4, 6), *tables(6, 9, 30.0), 2)  # before its tables are asked for
    keeps_inputs(learner.apply_rope, rng.randn(2, 3, 4, 6), *tables(6, 4, 30.0))
    keeps_inputs(learner.rope_angles, 6, 9, 30.0)


@task(3, after=(*TURNED, "inputs_unchanged"))  # autograd refuses what is written in place
def test_gradients(learner, reference, rng):
    """The gradient flows back to x, and it is correct."""
    arguments = (rng.randn(2, 3, 4, 6), *tables(6, 9, 30.0), 2)
    # The tables' own gradients are not looked at: only the first half of them need be read.
    expected = reference.apply_rope.gradients(*arguments)["argument 0"]
    got = learner.apply_rope.gradients(*arguments)
    if not isinstance(got, dict) or "argument 0" not in got:
        raise Mismatch("no gradient reaches x")
    expect(got["argument 0"], expected, "the gradient of x", tolerance=1e-4)


@task(3, after=TURNED)
def test_dtype_and_device(learner, rng):
    """The result keeps the dtype and device of x, even if cos and sin have another dtype."""
    x, (cos, sin), by = rng.randn(2, 3, 4, 6), tables(6, 9, 30.0), angles(6, 9, 30.0)[2:6]
    for dtype, other in (
        (torch.float64, torch.float64),
        (torch.bfloat16, torch.bfloat16),
        (torch.bfloat16, torch.float32),
        (torch.float64, torch.float32),
        (torch.float32, torch.float64),
    ):
        mine = x.to(dtype)
        expect(learner.apply_rope(mine, cos.to(other), sin.to(other), 2), turned(mine, by))
    keeps_device(learner.apply_rope, x, cos, sin, 2)


@task(3, each=FUNCTIONS)
def test_argument_names(learner, rng):
    """Arguments have the names used in the lesson: head_dim, context_length and base; x, cos, sin and offset."""
    learner.rope_angles(head_dim=6, context_length=9, base=30.0)
    cos, sin = tables(6, 9, 30.0)
    learner.apply_rope(x=rng.randn(2, 3, 4, 6), cos=cos, sin=sin, offset=2)
