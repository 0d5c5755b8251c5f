"""The events of a grading: their order, and one that is ended early, repeated or broken."""

from dataclasses import replace

import pytest

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import InfrastructureError
from grader.judge import collection, grading
from grader.judge.grading import Grading
from grader.records.results import CheckResult, ExerciseResult, Settings
from grader.records.submission import Submission, Unreadable, attempt
from grader.sandbox.forkserver import ForkServer

EXERCISE = catalog.find("03")
RIGHT = Submission(paths.solution(EXERCISE.folder).read_text("utf-8"), "right.py")
WRONG = Submission(RIGHT.source.replace("dim=-1", "dim=0", 1), "wrong.py")
STUB = Submission(paths.stub(EXERCISE.folder).read_text("utf-8"), "stub.py")
SEARCHED = Settings(seed=5, where=True)


def test_checks_are_collected_once_and_held_against_the_points_each_time():
    checks = collection.collect(EXERCISE)
    assert collection.collect(EXERCISE) is checks
    with pytest.raises(InfrastructureError, match="do not agree on another"):
        collection.collect(replace(EXERCISE, points=EXERCISE.points | {"another": 1.0}))


def kinds(submission, fork_server, settings=SEARCHED):
    return [type(event) for event in grading.grade(EXERCISE, submission, fork_server, settings)]


def test_the_events_come_in_order_and_end_where_nothing_is_left_to_say(fork_server):
    checked = [CheckResult] * len(EXERCISE.points)
    assert kinds(WRONG, fork_server) == [*checked, *[ExerciseResult] * 3]
    assert kinds(WRONG, fork_server, Settings(seed=5)) == [*checked, *[ExerciseResult] * 2]
    assert kinds(WRONG, fork_server, Settings(seed=5, diagnose=False)) == [*checked, ExerciseResult]
    for submission in (RIGHT, STUB):
        assert kinds(submission, fork_server) == [*checked, ExerciseResult]
    for unread in (Unreadable("a.py", "a.py is empty."), Submission("def f(:\n", "a.py")):
        assert kinds(unread, fork_server) == [ExerciseResult]


def test_each_event_adds_to_the_one_before(fork_server):
    *checked, verdict, diagnosed, located = grading.grade(EXERCISE, WRONG, fork_server, SEARCHED)
    assert [check.id for check in checked] == list(EXERCISE.points)
    outcomes = {check.id: check.outcome for check in checked}
    for event in (verdict, diagnosed, located):
        assert {check.id: check.outcome for check in event.checks} == outcomes
    assert not any(check.diagnosis or check.lines for check in verdict.checks)
    assert any(check.diagnosis for check in diagnosed.checks)
    assert not any(check.lines for check in diagnosed.checks)
    assert any(check.lines for check in located.checks)
    assert [check.diagnosis for check in located.checks] == [c.diagnosis for c in diagnosed.checks]


def test_a_grading_that_is_left_early_ends_its_worker_and_the_next_one_is_whole(fork_server, monkeypatch):
    workers, spawn = [], ForkServer.spawn

    def spawned(*arguments):
        workers.append(spawn(*arguments))
        return workers[-1]

    monkeypatch.setattr(ForkServer, "spawn", spawned)
    with Grading(EXERCISE, fork_server, SEARCHED) as judge:
        events = judge.grade(WRONG)
        assert isinstance(next(events), CheckResult) and workers[0].alive
        events.close()
        assert not workers[0].alive
        assert judge.result(RIGHT).status == "passed"


def test_what_broke_our_reading_twice_is_the_same_hand_in():
    """The watch compares what it read with what it read before."""

    def read():
        raise OverflowError("a secret")

    assert attempt(read, "a.py") == attempt(read, "a.py")
