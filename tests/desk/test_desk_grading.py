"""The thread that grades for the watch: every kind of exercise, and the newest file alone."""

import queue

import pytest
from extras import skip_unless_here
from thorough import sample
from worker_calls import load

from grader import catalog
from grader.catalog import Exercise, mistakes, paths
from grader.catalog.exercise import Limits
from grader.desk.grading_thread import GradingThread, Job, Superseded, Workers
from grader.records.results import FAILED, PASSED
from grader.records.submission import Submission
from grader.sandbox.worker_handle import WorkerEnded
from grader.worker.wire import ProtocolError

# By the workers that their checks need: with other packages, without ready-made functions, or the usual ones.
NEEDY = [exercise for exercise in catalog.exercises() if exercise.limits.needs]
FORBIDDING = [exercise for exercise in catalog.exercises() if exercise.forbidden and exercise not in NEEDY]
USUAL = [exercise for exercise in catalog.exercises() if exercise not in (*NEEDY, *FORBIDDING)]


@pytest.fixture
def grade(fork_server):
    """`grade(exercise, source)` gives what is published of this source, one result after the other."""
    published = queue.SimpleQueue()
    thread = GradingThread(fork_server, lambda job, result: published.put((job, result)))

    def results(exercise: Exercise, source: str):
        job = Job(exercise, Submission(source, f"{exercise.slug}.py"), seed=5)
        thread.take(job)
        while True:
            of_job, result = published.get(timeout=120)
            if of_job is job:
                yield result

    yield results
    thread.close()
    thread.thread.join()  # on a busy machine it goes on for longer than it is waited for, into another test's output


@pytest.mark.parametrize("exercise", [*NEEDY, *sample(FORBIDDING, 1), *sample(USUAL, 1)], ids=lambda one: one.folder)
def test_every_kind_of_exercise_is_graded_in_the_watch(exercise, grade):
    skip_unless_here(exercise)
    if exercise not in NEEDY:  # there one verdict takes seconds, and others need the same workers
        right = next(grade(exercise, paths.solution(exercise.folder).read_text("utf-8")))
        assert (right.status, right.points) == (PASSED, right.max_points)
    results = grade(exercise, mistakes.mistakes(exercise.folder)[0].source)
    assert next(results).status == FAILED
    assert exercise in NEEDY or any(check.diagnosis for check in next(results).checks)


def test_a_newer_file_ends_workers_without_ready_made_functions_too(fork_server):
    rule = FORBIDDING[0].forbidden[0]
    workers = Workers(fork_server)
    workers.begin()
    worker = workers.spawn(Limits(rule=rule))
    workers.cancel()
    with pytest.raises((WorkerEnded, ProtocolError)):
        load(worker, "while True:\n    pass\n")
    for limits in (Limits(), Limits(rule=rule)):
        with pytest.raises(Superseded):
            workers.spawn(limits)
    workers.begin()
    worker = workers.spawn(Limits(rule=rule))
    assert load(worker, "def f():\n    return 1\n").names == ["f"]
    worker.close()
