"""Exercise 25's solution against exact fractions, sums over all outcomes, and the rule of transformers."""

import inspect
import itertools
import math
from fractions import Fraction

import pytest
import torch
from figure_case import Case
from truths import load

exercise = load("25")


def drawn(*shape, seed=28):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator).mul(1.5).softmax(-1)


def exactly(row) -> list[Fraction]:
    return [Fraction(value) for value in row.tolist()]


def picked(row: list[Fraction], number: Fraction) -> int:
    return next(token for token, running in enumerate(itertools.accumulate(row)) if running > number)


def round_of(target, draft, tokens, numbers) -> list[int]:
    """A round in exact fractions: floats are fractions too."""
    for place, token in enumerate(tokens):
        p, q = target[place], draft[place]
        if numbers[place] * q[token] >= p[token]:
            missing = [max(Fraction(0), a - b) for a, b in zip(p, q, strict=True)]
            return [*tokens[:place], picked([part / sum(missing) for part in missing], numbers[-1])]
    return [*tokens, picked(target[-1], numbers[-1])]


@pytest.mark.parametrize("shape", [(4,), (3, 5), (2, 3, 7), (1, 1, 2)])
def test_rates_and_residuals_are_the_fractions(shape):
    target, draft = drawn(*shape), drawn(*shape, seed=29)
    rates, residuals = exercise.acceptance_rate(target, draft), exercise.residual(target, draft)
    assert rates.shape == target.shape[:-1] and residuals.shape == target.shape
    rows = zip(*(x.reshape(-1, shape[-1]) for x in (target, draft, residuals)), rates.reshape(-1), strict=True)
    for p, q, r, rate in rows:
        pairs = list(zip(exactly(p), exactly(q), strict=True))
        assert float(rate) == pytest.approx(float(sum(map(min, pairs))), abs=1e-12)
        missing = [max(0, a - b) for a, b in pairs]
        assert r.tolist() == pytest.approx([float(part / sum(missing)) for part in missing], abs=1e-12)


def test_gradients_equal_finite_differences_and_are_finite_in_equal_rows():
    two = [drawn(2, 4).requires_grad_(), drawn(2, 4, seed=29).requires_grad_()]
    assert torch.autograd.gradcheck(exercise.acceptance_rate, two)
    assert torch.autograd.gradcheck(exercise.residual, two)
    row = drawn(3).requires_grad_()
    exercise.residual(row, row.detach()).pow(2).sum().backward()
    assert row.grad.isfinite().all()


@pytest.mark.parametrize("V, K", [(2, 1), (3, 2), (5, 4), (7, 3), (40, 6)])
def test_rounds_are_the_rule_in_exact_fractions(V, K):
    generator, lengths = torch.Generator().manual_seed(V), set()
    for seed in range(60):
        target, draft = drawn(K + 1, V, seed=seed), drawn(K, V, seed=seed + 1000)
        tokens = torch.multinomial(draft, 1, generator=generator)[:, 0]
        numbers = torch.rand(K + 1, dtype=torch.float64, generator=generator)
        got = exercise.accept_draft(target, draft, tokens, numbers)
        exact = [[exactly(row) for row in rows] for rows in (target, draft)]
        assert got.dtype == torch.int64
        assert got.tolist() == round_of(*exact, tokens.tolist(), exactly(numbers))
        lengths.add(len(got))
    assert {1, 2} <= lengths <= set(range(1, K + 2))


def test_over_all_outcomes_two_places_follow_the_target():
    """Each number stands for an interval between two neighbouring boundaries, and counts as much as it is long."""
    V, table, small = 3, drawn(3, 3), drawn(3, 3, seed=29)
    texts = torch.zeros(V, V, dtype=torch.float64)  # the first two tokens behind token 0

    def intervals(boundaries):
        edges = sorted({0.0, 1.0, *(edge for edge in boundaries if 0 < edge < 1)})
        return [((low + high) / 2, high - low) for low, high in itertools.pairwise(edges)]

    for first, second in itertools.product(range(V), repeat=2):
        target, draft = table[[0, first, second]], small[[0, first]]
        chance = float(draft[0, first] * draft[1, second])
        ends = torch.cat([target, exercise.residual(target[:2], draft)]).cumsum(-1).flatten().tolist()
        parts = [intervals([float(target[i, x] / draft[i, x])]) for i, x in enumerate((first, second))]
        for (a, long_a), (b, long_b), (c, long_c) in itertools.product(*parts, intervals(ends)):
            numbers = torch.tensor([a, b, c], dtype=torch.float64)
            got = exercise.accept_draft(target, draft, torch.tensor([first, second]), numbers).tolist()
            weight = chance * long_a * long_b * long_c
            if len(got) == 1:  # the next round draws the second token, which follows the target as well
                texts[got[0]] += weight * table[got[0]]
            else:
                texts[got[0], got[1]] += weight
    torch.testing.assert_close(texts, table[0][:, None] * table)


def test_texts_follow_the_target_as_often_as_without_a_draft():
    target, draft = (torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(s)) for s in (1, 2))
    generator = torch.Generator().manual_seed(28)
    text = exercise.speculative_generate(target, draft, 0, 20_000, 3, generator)
    counts = torch.zeros(3, 3, dtype=torch.float64)
    counts.index_put_((text[:-1], text[1:]), torch.ones(20_000, dtype=torch.float64), accumulate=True)
    expected = counts.sum(-1, keepdim=True) * target.softmax(-1)
    chi_squared = float(((counts - expected) ** 2 / expected).sum())
    assert chi_squared < 22.5  # one run in a thousand exceeds that with 6 degrees of freedom; the seed is fixed


@pytest.mark.parametrize("count, num_draft", [(0, 3), (1, 1), (1, 5), (9, 2), (10, 4)])
def test_a_text_has_its_length_and_uses_whole_rounds(count, num_draft):
    target, draft = drawn(4, 4).log(), drawn(4, 4, seed=29).log()
    generator, other = torch.Generator().manual_seed(28), torch.Generator().manual_seed(28)
    text = exercise.speculative_generate(target, draft, 2, count, num_draft, generator)
    assert text.dtype == torch.int64 and len(text) == count + 1 and text[0] == 2
    longer = exercise.speculative_generate(target, draft, 2, count + 7, num_draft, other)
    assert torch.equal(text, longer[: count + 1]), "a longer text begins alike"
    rounds = 0
    replay = torch.Generator().manual_seed(28)
    while not torch.equal(replay.get_state(), generator.get_state()):
        torch.rand(2 * num_draft + 1, dtype=torch.float64, generator=replay)
        rounds += 1
        assert rounds <= count
    assert rounds * (num_draft + 1) >= count


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.5, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("num_draft", [1, 2, 7])
def test_the_expected_number_is_the_mean_over_all_ends(rate, num_draft):
    ends = [(kept + 1) * rate**kept * (1 - rate) for kept in range(num_draft)] + [(num_draft + 1) * rate**num_draft]
    got = exercise.expected_tokens_per_round(rate, num_draft)
    assert type(got) is float and got == pytest.approx(math.fsum(ends), rel=1e-9)


def test_transformers_keeps_by_the_same_rule(monkeypatch):
    """It draws the last token by itself, which is not compared."""
    utils = pytest.importorskip("transformers.generation.utils", reason="transformers (extra dev)")
    V, K = 6, 4
    more = [False] if "is_done_candidate" in inspect.signature(utils._speculative_sampling).parameters else []
    for seed in range(20):
        target, draft = drawn(K + 1, V, seed=seed), drawn(K, V, seed=seed + 1000)
        generator = torch.Generator().manual_seed(seed)
        tokens = torch.multinomial(draft, 1, generator=generator)[:, 0]
        numbers = torch.rand(K + 1, dtype=torch.float64, generator=generator)
        # The library draws its numbers itself: here it is given ours.
        monkeypatch.setattr(torch, "rand_like", lambda ratios, own=numbers: own[:K].reshape(ratios.shape))
        read = torch.cat([torch.zeros(1, dtype=torch.int64), tokens])[None]
        kept, count = utils._speculative_sampling(read, draft.log()[None], K, target.log()[None], *more)
        got = exercise.accept_draft(target, draft, tokens, numbers)
        assert kept[0, :-1].tolist() == got[:-1].tolist() and int(count) == len(got) - 1


# The figure: what is done to it, and what torch computes must come out.


def one_place(wrong: int, again: bool = False) -> dict[str, torch.Tensor]:
    """The lesson's target and a draft that is mixed of it and its reverse, by the solution."""
    target = torch.tensor([4.0, 2.0, 1.0, 1.0], dtype=torch.float64) / 8
    draft = target.lerp(target.flip(0), wrong / 100)
    rate = exercise.acceptance_rate(target, draft)
    second = target if again else exercise.residual(target, draft)
    kept = torch.minimum(target, draft)
    drawn_again = (1 - rate) * second
    return {
        "one place": torch.stack([target, draft, kept, drawn_again, kept + drawn_again]),
        "drawn after a rejection from": second,
    }


def told(rate: float, drafted: int = 4) -> str:
    """What the sentence says of the acceptance rate and the tokens a round."""
    tokens = exercise.expected_tokens_per_round(rate, drafted)
    return rf"^{100 * rate:.0f}.% of the drafted tokens are kept\..* would give {tokens:.2f}.tokens"


WRONG, DRAFTED = "How wrong it is, %", "Drafted in a round"
AGAIN = ("toggle", "After a rejection, draw from the target instead")
FOUR, NUMBERS = ("move", DRAFTED, 4), ("toggle", "Numbers")
CASES = [
    Case("as it opens", [NUMBERS], lambda: one_place(100), "^50.% .* and the target's distribution comes out.$"),
    Case("three drafted", [("move", DRAFTED, 3), NUMBERS], lambda: one_place(100), told(0.5, 3)),
    Case("four drafted", [FOUR, NUMBERS], lambda: one_place(100), told(0.5)),
    Case("half wrong", [("move", WRONG, 50), FOUR, NUMBERS], lambda: one_place(50), told(0.75)),
    Case("the same model", [("move", WRONG, 0), FOUR, NUMBERS], lambda: one_place(0), told(1.0)),
    Case("eight drafted", [("move", DRAFTED, 8), NUMBERS], lambda: one_place(100), told(0.5, 8)),
    Case(
        "drawn again", [AGAIN, NUMBERS], lambda: one_place(100, again=True), "mat comes out with 0.375 instead of 0.500"
    ),
    Case(
        "nearly right, drawn again",
        [("move", WRONG, 20), ("move", DRAFTED, 2), AGAIN, NUMBERS],
        lambda: one_place(20, again=True),
        "Now mat",
    ),
]
