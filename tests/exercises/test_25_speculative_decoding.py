"""Exercise 25's solution in exact fractions, and the figure."""

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


@pytest.mark.parametrize("count, num_draft", [(0, 3), (1, 1), (9, 2)])
def test_no_round_begins_that_is_not_needed(count, num_draft):
    """A round draws 2 · num_draft + 1 numbers at once, and gives a token or more.

    The check of it compares with the solution.
    """
    generator, again = torch.Generator().manual_seed(28), torch.Generator().manual_seed(28)
    exercise.speculative_generate(drawn(4, 4).log(), drawn(4, 4, seed=29).log(), 2, count, num_draft, generator)
    states = [again.get_state()]
    for _ in range(count):
        torch.rand(2 * num_draft + 1, dtype=torch.float64, generator=again)
        states.append(again.get_state())
    assert any(torch.equal(generator.get_state(), state) for state in states)


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


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.5, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("num_draft", [1, 2, 7])
def test_the_expected_number_is_the_mean_over_all_ends(rate, num_draft):
    ends = [(kept + 1) * rate**kept * (1 - rate) for kept in range(num_draft)] + [(num_draft + 1) * rate**num_draft]
    got = exercise.expected_tokens_per_round(rate, num_draft)
    assert type(got) is float and got == pytest.approx(math.fsum(ends), rel=1e-9)


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


def told(rate: float) -> str:
    """What the sentence says of the acceptance rate and the tokens a round of four."""
    tokens = exercise.expected_tokens_per_round(rate, 4)
    return rf"^{100 * rate:.0f}.% of the drafted tokens are kept\..* would give {tokens:.2f}.tokens"


AGAIN = {"After a rejection, draw from the target instead": True}
FOUR = {"Drafted in a round": 4}
CASES = [
    Case([], lambda: one_place(100), "^50.% .* and the target's distribution comes out.$"),
    Case([FOUR], lambda: one_place(100), told(0.5)),
    Case([{"How wrong the draft is, %": 0}, FOUR], lambda: one_place(0), told(1.0)),
    Case([AGAIN], lambda: one_place(100, again=True), "mat comes out with 0.375 instead of 0.500"),
]
