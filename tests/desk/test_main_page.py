"""The main page of the watch, as text."""

import io

import pytest
from rich.console import Console

from grader import catalog
from grader.desk import lesson, progress, screen
from grader.desk.grading_thread import Job, Watched
from grader.records.results import ERROR, FAILED, NOT_CHECKED, PASSED, CheckResult, ExerciseResult
from grader.records.submission import Submission

EXERCISE = catalog.find("04")


def text(parts) -> str:
    """What a terminal of eighty columns shows."""
    console = Console(file=io.StringIO(), width=80)
    for part in parts:
        console.print(part)
    return console.file.getvalue()


def verdict(*outcomes: tuple[int, str, str], status: str = FAILED) -> ExerciseResult:
    """A verdict with a check for each (task, outcome, message)."""
    checks = [
        CheckResult(f"check_{number}", f"Promise {number}.", outcome, 0.0, 1.0, message, task=task)
        for number, (task, outcome, message) in enumerate(outcomes)
    ]
    return ExerciseResult(EXERCISE.folder, EXERCISE.title, "the file", "cpu", 1, status, 0.1, tuple(checks))


@pytest.fixture
def view(history):
    """`view(result)`: an exercise that was just graded, with a history of its own."""

    def make(result: ExerciseResult) -> Watched:
        one = Watched(EXERCISE, grading=None)
        one.job = Job(EXERCISE, Submission("", "the file"), 1)
        assert one.is_first(one.job)
        one.take(one.job, result)
        assert not one.is_first(one.job)
        return one

    return make


def test_a_syntax_error_leaves_the_learner_at_the_same_task(view):
    """Both the task that is shown and the one that hints are for."""
    shown = view(verdict((1, PASSED, ""), (2, FAILED, "a word"), (3, FAILED, "another word")))
    broken = verdict((1, NOT_CHECKED, ""), (2, NOT_CHECKED, ""), (3, NOT_CHECKED, ""), status=ERROR)
    shown.take(Job(EXERCISE, Submission("", "the file"), 1), broken)
    assert shown.result is broken and shown.task.number == 2
    assert Watched(EXERCISE, grading=None).task.number == 2  # when the watch is started again, too
    assert lesson.current(EXERCISE.folder, progress.last(EXERCISE.folder)).number == 2


def test_a_pass_counts_at_once_and_says_what_comes_next(view):
    now = view(verdict((1, PASSED, ""), status=PASSED))
    assert f"1 of {len(catalog.exercises())} passed" in text(screen.heading(now.exercise))
    assert "n: on to 05" in text(screen.verdict(now, 80)) and "make experiment EX=04" in text(screen.verdict(now, 80))
    assert progress.load()[EXERCISE.folder].done
