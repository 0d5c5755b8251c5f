"""What a failed check blocks: its own function's further checks, and never the points of other functions."""

import re

import pytest
from extras import skip_unless_here
from sources import solution
from thorough import THOROUGH, sample

from grader import catalog
from grader.authoring.verify import waits_across_tasks
from grader.catalog import paths
from grader.integrations.notebook import display
from grader.judge.collection import collect
from grader.records.results import FAILED, NOT_CHECKED, PASSED
from grader.reports import terminal

DOES_NOT_WAIT = {("10_causal_mask", "gradients")}  # what one function gives there tells two mistakes apart


@pytest.mark.parametrize(
    ("number", "exercise"), sample(enumerate(catalog.exercises()), 4), ids=lambda part: getattr(part, "folder", "")
)
def test_a_wrong_function_takes_no_points_of_others(graded, number, exercise):
    """Everything but one function is the solution's (and what calls it). At night each function is the one."""
    skip_unless_here(exercise)
    checks = collect(exercise)
    names = list(dict.fromkeys(name for check in checks for name in check.each))
    for name in names if THOROUGH else names[number % max(len(names), 1) :][:1]:
        broken = f"\n\ndef {name}(*args, **kwargs):\n    raise RuntimeError('broken')\n"
        result = graded(exercise.folder, paths.solution(exercise.folder).read_text("utf-8") + broken)
        by_id = {check.id: check for check in result.checks}
        for check in checks:
            sound = [one for one, names in check.each.items() if all(by_id[n].outcome == PASSED for n in names)]
            if not check.each or (exercise.folder, check.id) in DOES_NOT_WAIT:
                continue
            mine = by_id[check.id]
            assert mine.outcome != FAILED and bool(mine.points) == bool(sound), (name, mine, sound)
            assert mine.points == pytest.approx(mine.max_points * len(sound) / len(check.each), abs=0.006)


def test_one_wrong_function_of_three_costs_its_own_share(graded):
    wrong = "\n\ndef softmax_stable(x, dim=-1):\n    return torch.softmax(x, dim=0)\n"  # ready-made besides
    result = graded("02", solution("02") + wrong)
    assert result.points == 3.33  # its own four checks cost 2, a third of the promises 0.67
    (own,) = [check for check in result.checks if check.id == "own_softmax"]
    assert (own.outcome, own.points) == (NOT_CHECKED, 0.33)
    assert own.message.startswith(
        "checked without softmax_stable, for a part of the points: first fix “softmax_stable is"
    )
    in_part = [check for check in result.checks if check.points and check.outcome == NOT_CHECKED]
    untried = [check for check in result.checks if not check.points and check.outcome == NOT_CHECKED]
    assert {check.word for check in in_part} == {"checked in part"}
    assert {check.word for check in untried} <= {"not checked"}
    assert f"{len(in_part)} checks ran in part, for " in display.verdict(result, ())["html"]
    assert terminal.plain(result, every=True).count("checked without softmax_stable") == len(in_part)


def test_what_waits_across_tasks_is_listed_as_it_is_graded(graded):
    """A mistake in one task leaves exactly those checks of others untried that `verify` lists for it."""
    exercise = catalog.find("28_sparse_attention")
    checks = collect(exercise)
    of_task_1, *_ = waits_across_tasks(exercise, checks)
    broken = "\n\ndef index_scores(*args, **kwargs):\n    raise RuntimeError('broken')\n"
    result = graded(exercise.folder, solution("28") + broken)
    others = {check.id for check in checks if not check.each and check.task not in (None, 1)}
    untried = [check.id for check in result.checks if check.outcome == NOT_CHECKED and check.id in others]
    assert untried and re.findall(r"(\w+) \(task", of_task_1) == untried and "a mistake in task 1 can" in of_task_1


def test_every_wait_across_tasks_has_its_written_reason_and_no_reason_is_about_another_one():
    for exercise in catalog.exercises():
        listed = waits_across_tasks(exercise, collect(exercise))
        for (task, reason), line in zip(sorted(exercise.waits.items()), listed, strict=True):
            assert f"a mistake in task {task} can leave" in line and line.endswith(f". On purpose: {reason}")
