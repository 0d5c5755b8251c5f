"""Exercise 25's solution against the rule of transformers, and the figure."""

import inspect

import pytest
import torch
from figure_case import NUMBERS, Case
from truths import load

exercise = load("25")


def drawn(*shape, seed=28):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator).mul(1.5).softmax(-1)


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


WRONG, DRAFTED = "How wrong it is, %", "Drafted in a round"
AGAIN = ("toggle", "After a rejection, draw from the target instead")
FOUR = ("move", DRAFTED, 4)
CASES = [
    Case("as it opens", [NUMBERS], lambda: one_place(100), "^50.% .* and the target's distribution comes out.$"),
    Case("four drafted", [FOUR, NUMBERS], lambda: one_place(100), told(0.5)),
    Case("the same model", [("move", WRONG, 0), FOUR, NUMBERS], lambda: one_place(0), told(1.0)),
    Case(
        "drawn again", [AGAIN, NUMBERS], lambda: one_place(100, again=True), "mat comes out with 0.375 instead of 0.500"
    ),
]
