"""Hidden checks: fresh inputs against the rule in Python floats, and what comes out over all numbers."""

import math

import torch

from grader.authors import (
    Mismatch,
    draws_as_often,
    expect,
    expect_shape,
    keeps_dtype,
    keeps_inputs,
    task,
)

CLEAR = 1e-4  # how far a uniform number is from any number that it is compared with; half types apart, rounding is less
# (V, K, the place of the first rejection: K if there is none)
DRAFTS = ((5, 3, 0), (4, 3, 1), (6, 4, 3), (3, 2, 2), (7, 5, 5), (2, 1, 0), (2, 1, 1), (9, 4, 2))
# (V, max_new_tokens, num_draft)
TEXTS = ((6, 24, 4), (3, 12, 2), (5, 9, 1), (7, 5, 7), (4, 7, 3))
ACCEPT, GENERATE = ("fresh_accept_draft", "boundaries"), "fresh_generate"


class Rule:
    """The lesson's rule in Python floats.

    clear: the least distance of a number from what it was compared with; ends_early: whether the last round of a text
    is rejected at its last needed token, and more were drafted.
    """

    def __init__(self) -> None:
        self.clear, self.ends_early = math.inf, False

    def is_below(self, number: float, limit: float) -> bool:
        self.clear = min(self.clear, abs(number - limit))
        return number < limit

    def draw(self, row: list[float], number: float) -> int:
        running = 0.0
        for token, probability in enumerate(row):
            running += probability
            if probability and self.is_below(number, running):
                return token
        return max(token for token, probability in enumerate(row) if probability)

    def accept(self, target, draft, tokens: list[int], numbers: list[float]) -> list[int]:
        for place, token in enumerate(tokens):
            p, q = target[place], draft[place]
            if not self.is_below(numbers[place], p[token] / q[token]):
                missing = [max(0.0, a - b) for a, b in zip(p, q, strict=True)]
                total = math.fsum(missing)
                return [*tokens[:place], self.draw([part / total for part in missing], numbers[-1])]
        return [*tokens, self.draw(target[-1], numbers[-1])]

    def generate(self, target, draft, token: int, count: int, num_draft: int, generator) -> list[int]:
        tokens = [token]
        while len(tokens) <= count:
            numbers = torch.rand(2 * num_draft + 1, generator=generator, dtype=torch.float64).tolist()
            read = tokens[-1:]
            for number in numbers[:num_draft]:
                read.append(self.draw(softmax(draft[read[-1]]), number))
            rows = [[softmax(table[i]) for i in read] for table in (target, draft)]
            new = self.accept(*rows, read[1:], numbers[num_draft:])
            self.ends_early = len(tokens) + len(new) == count + 1 and len(new) < num_draft
            tokens += new
        return tokens[: count + 1]


def softmax(logits: list[float]) -> list[float]:
    powers = [math.exp(logit - max(logits)) for logit in logits]
    return [power / math.fsum(powers) for power in powers]


def distributions(rng, *shape: int, dtype=torch.float32) -> torch.Tensor:
    """Rows that sum to 1 and differ clearly from each other."""
    return torch.softmax(1.5 * rng.randn(*shape, dtype=torch.float64), dim=-1).to(dtype)


def drafts(rng, V: int, K: int, stop: int, dtype=torch.float64):
    """Arguments of accept_draft, rejected first at the place `stop`, and the tokens that come out.

    Numbers behind that place are so small that all further draft tokens would be kept.
    """
    while True:
        target, draft = distributions(rng, K + 1, V, dtype=dtype), distributions(rng, K, V, dtype=dtype)
        tokens, numbers = rng.integers(0, V, K), rng.rand(K + 1, dtype=torch.float64)
        if stop < K:
            tokens[stop] = int((target[stop] / draft[stop]).argmin())
        ratios = (target[:K] / draft).double().gather(1, tokens[:, None])[:, 0].clamp(max=1.0)
        numbers[:K] *= 0.95 * ratios
        if stop < K:
            numbers[stop] = ratios[stop] + (1 - ratios[stop]) * rng.rand(1, dtype=torch.float64)[0]
        rule = Rule()
        expected = rule.accept(target.tolist(), draft.tolist(), tokens.tolist(), numbers.tolist())
        if rule.clear > CLEAR and len(expected) == stop + 1:
            return (target, draft, tokens, numbers), torch.tensor(expected)


def texts(rng, V: int, count: int, num_draft: int, ends_early: bool = False):
    """Two tables, a token, a seed, and the text that comes out of them."""
    while True:
        target, draft = (1.5 * rng.randn(V, V, dtype=torch.float64) for _ in range(2))
        token, seed, rule = rng.integer(0, V), rng.integer(0, 1 << 30), Rule()
        expected = rule.generate(
            target.tolist(), draft.tolist(), token, count, num_draft, torch.Generator().manual_seed(seed)
        )
        if rule.clear > 1e-5 and rule.ends_early >= ends_early:
            return (target, draft, token, count, num_draft), seed, torch.tensor(expected)


def pairs(rng, dtype=torch.float32):
    """Distributions of many shapes, some with tokens that cannot come, some almost equal, some not row by row."""
    for shape in ((5,), (1, 4), (4, 1), (3, 6), (2, 3, 4), (2, 1, 2, 7)):
        yield distributions(rng, *shape, dtype=dtype), distributions(rng, *shape, dtype=dtype)
    target = torch.tensor([[0.0, 0.5, 0.5, 0.0], [0.25, 0.25, 0.0, 0.5]], dtype=dtype)
    yield target, torch.tensor([[0.5, 0.0, 0.25, 0.25], [0.0, 0.25, 0.75, 0.0]], dtype=dtype)
    draft = torch.tensor([0.5, 0.25, 0.125, 0.125], dtype=dtype)
    yield draft + torch.tensor([1.0, -1.0, 2.0, -2.0], dtype=dtype) / 4096, draft
    yield tuple(distributions(rng, 3, 6, dtype=dtype).T.contiguous().T for _ in range(2))


def rows_of(*two: torch.Tensor):
    """The rows of both, side by side, as lists."""
    return zip(*(x.reshape(-1, x.shape[-1]).tolist() for x in two), strict=True)


def same_slopes(mine, theirs, *two: torch.Tensor) -> None:
    """The true gradients along distributions: what is added to all tokens alike does not matter, as rows sum to 1.

    So 1 − ½ Σ |p − q| is as right as Σ min(p, q).
    """
    got, expected = mine.gradients(*two), theirs.gradients(*two)
    for name, gradient in expected.items():
        if not isinstance(got, dict) or name not in got:
            raise Mismatch(f"no gradient reaches {name}")
        expect_shape(got[name], tuple(gradient.shape), f"the gradient of {name}")
        slopes = [x - x.mean(dim=-1, keepdim=True) for x in (got[name], gradient)]
        expect(*slopes, f"the gradient of {name}, its mean taken off,")


# Task 1


@task(1)
def test_fresh_acceptance_rate(learner, rng):
    """acceptance_rate is right for one pair of distributions and for many."""
    for target, draft in pairs(rng):
        expected = [math.fsum(map(min, p, q)) for p, q in rows_of(target, draft)]
        got = learner.acceptance_rate(target, draft)
        expect(got, torch.tensor(expected).reshape(target.shape[:-1]))


# Task 2


@task(2)
def test_fresh_residual(learner, rng):
    """residual is right for one pair of distributions and for many."""
    for target, draft in pairs(rng):
        if target.shape[-1] == 1:
            continue  # a single token always has the probability 1
        missing = [[max(0.0, a - b) for a, b in zip(p, q, strict=True)] for p, q in rows_of(target, draft)]
        expected = [[part / math.fsum(row) for part in row] for row in missing]
        expect(learner.residual(target, draft), torch.tensor(expected).reshape(target.shape))


@task(2)
def test_equal_rows(learner, rng):
    """Where both models agree, and only there, residual gives the target's row, also among other rows."""
    row = torch.tensor([0.25, 0.5, 0.125, 0.125])
    expect(learner.residual(row, row.clone()), row)
    target = torch.stack([row, row.flip(0), row, row.roll(1)])
    draft = torch.stack([row, row, row.roll(1), row.roll(1)])
    expected = torch.tensor([[0.25, 0.5, 0.125, 0.125], [0.0, 0.0, 0.75, 0.25], [1 / 3, 2 / 3, 0, 0], [0, 0, 0, 0]])
    expected[2] = torch.tensor([0.125, 0.25, 0.0, 0.0]) / 0.375
    expected[3] = row.roll(1)
    expect(learner.residual(target, draft), expected)
    nearly = torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64)
    little = torch.tensor([2.0**-17, -(2.0**-17), 0.0], dtype=torch.float64)
    expect(learner.residual(nearly, nearly + little), torch.tensor([0.0, 1.0, 0.0], dtype=torch.float64))


# Task 3


@task(3)
def test_fresh_accept_draft(learner, rng):
    """accept_draft keeps and draws the tokens that the numbers say, wherever the first rejection is."""
    for V, K, stop in DRAFTS:
        args, expected = drafts(rng, V, K, stop)
        expect(learner.accept_draft(*args), expected, "what accept_draft gives")
    (target, draft, tokens, numbers), expected = drafts(rng, 5, 3, 2, dtype=torch.float32)
    args = (target.T.contiguous().T, draft.T.contiguous().T, tokens, numbers)
    expect(learner.accept_draft(*args), expected, "what accept_draft gives")


@task(3)
def test_boundaries(learner):
    """A number that equals p / q rejects, one that equals a running sum goes on, and no impossible token comes."""
    target = torch.tensor([[2, 0, 3, 3], [0, 2, 0, 6], [0, 2, 2, 4]], dtype=torch.float64) / 8
    draft = torch.tensor([[4, 2, 1, 1], [2, 4, 1, 1]], dtype=torch.float64) / 8
    cases = (
        ([0, 1], [0.5, 0.0, 0.5], [3]),  # the first token's p / q, then a running sum of the residual
        ([0, 1], [0.5 - 2**-10, 0.5, 0.0], [0, 3]),  # the second one's
        ([1, 3], [0.0, 0.0, 0.0], [2]),  # a token that the target never gives
        ([0, 0], [0.25, 0.0, 0.75], [0, 3]),
        ([2, 3], [0.75, 0.75, 0.0], [2, 3, 1]),  # both are kept, and then a first token that cannot come
        ([2, 3], [0.75, 0.75, 0.25], [2, 3, 2]),
        ([0, 1], [0.0, 0.25, 0.5], [0, 1, 3]),
    )
    for tokens, numbers, expected in cases:
        args = (target, draft, torch.tensor(tokens), torch.tensor(numbers, dtype=torch.float64))
        expect(learner.accept_draft(*args), torch.tensor(expected), "what accept_draft gives")
    rounded = torch.tensor([[0.5, 0.5, 0.0], [0.5, 0.5 - 2**-20, 0.0]], dtype=torch.float64)  # exact in float32 too
    args = (rounded, rounded[:1], torch.tensor([0]), torch.tensor([0.25, 1 - 2**-21], dtype=torch.float64))
    expect(learner.accept_draft(*args), torch.tensor([0, 1]), "what accept_draft gives for a row just below 1")


@task(3, after="fresh_accept_draft")
def test_sums_in_float64(learner):
    """accept_draft compares and adds up in float64, even where the distributions are float32."""
    small = 2.0**-25  # float32 holds it and 0.5 - small, but not their sum
    for dtype in (torch.float64, torch.float32):
        target = torch.tensor([[0.5, small, 0.5 - small]] * 2, dtype=dtype)
        args = (target, target[:1].clone(), torch.tensor([0]))
        got = learner.accept_draft(*args, torch.tensor([0.0, 0.5 + small / 2], dtype=torch.float64))
        expect(got, torch.tensor([0, 1]), "what accept_draft gives for a running sum of 0.5 + 2⁻²⁵")
        got = learner.accept_draft(*args, torch.tensor([0.0, 0.5 - small / 4], dtype=torch.float64))
        expect(got, torch.tensor([0, 0]), "what accept_draft gives for a number of 0.5 − 2⁻²⁷")
    halves, quarters = torch.tensor([[0.5, 0.5]]), torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    for target, draft, number, expected in (
        (quarters, halves, 0.5 - 2.0**-30, [0, 0]),
        (quarters, halves, 0.5, [1]),
        (quarters, quarters[:1].flip(1), 1 / 3 + 2.0**-28, [1]),  # float32 rounds 1/3 up by 2⁻²⁶ · ⅔
    ):
        got = learner.accept_draft(target, draft, torch.tensor([0]), torch.tensor([number, 0.5], dtype=torch.float64))
        expect(got, torch.tensor(expected), "what accept_draft gives for a number at p / q")
    tiny = 2.0**-30
    target = torch.tensor([[0.5 + tiny, 0.25, 0.25 - tiny]] * 2, dtype=torch.float64)
    args = (target, torch.tensor([[0.5, 0.5, 0.0]], dtype=torch.float64), torch.tensor([1]))
    got = learner.accept_draft(*args, torch.tensor([0.5, tiny], dtype=torch.float64))
    expect(got, torch.tensor([0]), "what accept_draft gives where a p is 2⁻³⁰ above its q")


@task(3)
def test_exact_distribution(learner):
    """Over all drafts and numbers the first token comes exactly as often as the target says, whatever the draft."""
    sixteenths = torch.tensor([[5, 9, 2], [4, 8, 4]])
    target, draft = sixteenths.double() / 16, torch.tensor([[2, 6, 8]], dtype=torch.float64) / 16
    first, second = torch.zeros(3, dtype=torch.int64), torch.zeros(3, dtype=torch.int64)
    grid = torch.arange(1, 8, 2, dtype=torch.float64) / 8  # each number stands for a quarter of [0, 1)
    for token, times in enumerate((2, 6, 8)):
        for number in grid:
            for last in grid:
                got = learner.accept_draft(target, draft, torch.tensor([token]), torch.stack([number, last]))
                tokens = got.tolist() if isinstance(got, torch.Tensor) and got.dtype == torch.int64 else None
                if not isinstance(tokens, list) or len(tokens) not in (1, 2) or not set(tokens) <= {0, 1, 2}:
                    raise Mismatch("accept_draft gives something else than one or two tokens, int64", "", got, (1,))
                first[tokens[0]] += times
                second[tokens[1:]] += times
    expect(first, 16 * sixteenths[0], "how often each token comes first, of 256 times,")
    expect(second, 10 * sixteenths[1], "how often each token comes second, after a kept draft token,")


# Task 4


@task(4)
def test_fresh_expected_tokens(learner, rng):
    """expected_tokens_per_round is right for any rate from 0 to 1, both included, and gives a Python number."""
    drawn = (0.1 + 0.8 * rng.rand(3, dtype=torch.float64)).tolist()
    for rate, num_draft in zip((*drawn, 0.0, 1.0, 0.25, 0.9, 0.999), (5, 2, 8, 3, 6, 1, 5, 20), strict=True):
        got = learner.expected_tokens_per_round(rate, num_draft)
        if isinstance(got, torch.Tensor):
            raise Mismatch("expected_tokens_per_round gives a tensor; expected a Python float", "", got)
        expect(got, math.fsum(rate**kept for kept in range(num_draft + 1)))


# Task 5


@task(5)
def test_fresh_generate(learner, rng):
    """speculative_generate draws the tokens that its random numbers say, from a generator and from torch's own."""
    for given, (V, count, num_draft) in enumerate(TEXTS):
        args, seed, expected = texts(rng, V, count, num_draft, ends_early=V > 5)
        if given % 2:
            got = learner.speculative_generate(*args, seed=seed)
        else:
            got = learner.speculative_generate(*args, torch.Generator().manual_seed(seed), seed=seed + 1)
        expect(got, expected, "the text")


@task(5)
def test_token_count(learner, rng):
    """The text has the first token and exactly max_new_tokens more, also 0 or fewer than a round gives."""
    table = 1.5 * rng.randn(4, 4, dtype=torch.float64)
    for count in (0, 1, 2, 6, 11):  # the draft is the target, so every round gives four tokens
        got = learner.speculative_generate(table, table.clone(), 2, count, 3, torch.Generator().manual_seed(count))
        expect_shape(got, (count + 1,), "the text")
        expect(got[:1], torch.tensor([2]), "the first token of the text")


@task(5, after=("fresh_generate", "token_count"))
def test_generator_left(learner, reference, rng):
    """Every round draws its numbers at once, and no round begins that is not needed: 0 tokens draw nothing."""
    table = 1.5 * rng.randn(4, 4, dtype=torch.float64)
    whole_rounds = (table, table.clone(), 1, 6, 2, torch.Generator().manual_seed(rng.integer(0, 1 << 30)))
    draws_as_often(learner.speculative_generate, reference.speculative_generate, *whole_rounds)
    for V, count, num_draft in ((3, 0, 2), (4, 1, 3), (5, 12, 2), (3, 8, 1)):
        args, seed, _ = texts(rng, V, count, num_draft)
        generator = torch.Generator().manual_seed(seed)
        draws_as_often(learner.speculative_generate, reference.speculative_generate, *args, generator)


# Promises


@task(2, each={"acceptance_rate": "fresh_acceptance_rate", "residual": "fresh_residual"})
def test_gradients(learner, reference, rng):
    """Gradients flow back to both distributions, and they are correct."""
    two = distributions(rng, 2, 3, 5, dtype=torch.float64), distributions(rng, 2, 3, 5, dtype=torch.float64)
    same_slopes(learner.acceptance_rate, reference.acceptance_rate, *two)
    same_slopes(learner.residual, reference.residual, *two)


@task(2, each={"acceptance_rate": "fresh_acceptance_rate", "residual": "fresh_residual"})
def test_dtype_kept(learner, reference, rng):
    """acceptance_rate and residual keep float64 and float32."""
    two = distributions(rng, 3, 5), distributions(rng, 3, 5)
    for mine, theirs in (
        (learner.acceptance_rate, reference.acceptance_rate),
        (learner.residual, reference.residual),
    ):
        keeps_dtype(mine, theirs, *two, dtypes=(torch.float64, torch.float32))


@task(
    5,
    each={
        "acceptance_rate": "fresh_acceptance_rate",
        "residual": ("fresh_residual", "equal_rows"),
        "accept_draft": ACCEPT,
        "speculative_generate": GENERATE,
    },
)
def test_inputs_unchanged(learner, rng):
    """Calling a function twice gives the same result, and nothing you pass in is modified."""
    two = distributions(rng, 4, 5), distributions(rng, 4, 5)
    keeps_inputs(learner.acceptance_rate, *two)
    keeps_inputs(learner.residual, *two)
    for stop in (1, 3):
        keeps_inputs(learner.accept_draft, *drafts(rng, 5, 3, stop)[0])
    args, seed, _ = texts(rng, 4, 6, 2)
    keeps_inputs(learner.speculative_generate, *args, torch.Generator().manual_seed(seed))


@task(
    5,
    each={
        "acceptance_rate": "fresh_acceptance_rate",
        "residual": "fresh_residual",
        "accept_draft": ACCEPT,
        "expected_tokens_per_round": "fresh_expected_tokens",
        "speculative_generate": GENERATE,
    },
)
def test_argument_names(learner, rng):
    """Arguments have the names used in the lesson."""
    two = dict(zip(("target_probs", "draft_probs"), (distributions(rng, 2, 3), distributions(rng, 2, 3)), strict=True))
    learner.acceptance_rate(**two)
    learner.residual(**two)
    names = ("target_probs", "draft_probs", "draft_tokens", "uniforms")
    learner.accept_draft(**dict(zip(names, drafts(rng, 4, 2, 1)[0], strict=True)))
    learner.expected_tokens_per_round(rate=0.5, num_draft=2)
    names = ("target", "draft", "token", "max_new_tokens", "num_draft")
    args, seed, _ = texts(rng, 3, 4, 2)
    learner.speculative_generate(**dict(zip(names, args, strict=True)), generator=torch.Generator().manual_seed(seed))
