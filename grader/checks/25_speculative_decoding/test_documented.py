"""The numbers that the lesson prints: a draft that has the target upside down, two drafted tokens, two small tables."""

import torch

from grader.authors import expect, task

TARGET, DRAFT = torch.tensor([4.0, 2.0, 1.0, 1.0]) / 8, torch.tensor([1.0, 1.0, 2.0, 4.0]) / 8
TARGET_ROWS = torch.tensor([[4.0, 2.0, 1.0, 1.0], [1.0, 3.0, 3.0, 1.0], [2.0, 2.0, 2.0, 2.0]]) / 8
DRAFT_ROWS = torch.tensor([[1.0, 1.0, 2.0, 4.0], [3.0, 1.0, 2.0, 2.0]]) / 8


def expect_tokens(got, printed, expected: list[int]) -> None:
    """The tokens match the printed numbers, as int64, which print doesn't show."""
    expect(got, torch.tensor(expected))
    expect(got, printed)


@task(1)
def test_documented_acceptance_rate(learner, documented):
    """A draft that has the lesson's target upside down is kept half of the time."""
    got = learner.acceptance_rate(TARGET, DRAFT)
    expect(got, torch.tensor(0.5))
    expect(got, documented["rate"])


@task(2)
def test_documented_residual(learner, documented):
    """What that draft gives too little of, made to sum to 1, matches the lesson's numbers."""
    got = learner.residual(TARGET, DRAFT)
    expect(got, torch.tensor([0.75, 0.25, 0.0, 0.0]))
    expect(got, documented["residual"])


@task(3)
def test_documented_accept_draft(learner, documented):
    """The lesson's two drafted tokens: both are kept, the second is rejected, the first is rejected."""
    drafted = torch.tensor([3, 0])
    numbers = torch.tensor([[0.1, 0.3, 0.6], [0.1, 0.7, 0.6], [0.5, 0.1, 0.8]], dtype=torch.float64)
    cases = {"kept": [3, 0, 2], "rejected": [3, 1], "rejected_first": [1]}
    for (name, expected), uniforms in zip(cases.items(), numbers, strict=True):
        got = learner.accept_draft(TARGET_ROWS, DRAFT_ROWS, drafted, uniforms)
        expect_tokens(got, documented[name], expected)


@task(4)
def test_documented_expected_tokens(learner, documented):
    """Four drafted tokens give the lesson's numbers of tokens a round, for the rates 0.5 and 1."""
    for rate, name in ((0.5, "tokens"), (1.0, "all_kept")):
        expect(learner.expected_tokens_per_round(rate, 4), documented[name])


@task(5)
def test_documented_generate(learner, documented):
    """The lesson's two tables and the seed 28 give its tokens, with three drafted a round and with one."""
    target = torch.stack([TARGET.double().roll(i) for i in range(4)]).log()
    cases = ((3, "three_drafted", [0, 0, 1, 3, 0, 3, 2, 2, 3]), (1, "one_drafted", [0, 0, 3, 1, 1, 1, 2, 1, 1]))
    for num_draft, name, expected in cases:
        generator = torch.Generator().manual_seed(28)
        got = learner.speculative_generate(target, target / 2, 0, 8, num_draft, generator)
        expect_tokens(got, documented[name], expected)
