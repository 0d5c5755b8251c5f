"""A class gets the verdicts that each submission gets alone, and only files with equal bytes share one."""

import io
import json
import re
from dataclasses import asdict, replace

import pytest
from thorough import sample

from grader import catalog
from grader.catalog import mistakes, paths
from grader.classroom.pool import Job, Task
from grader.judge import grading
from grader.records.results import Settings
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer

SEED = 11
SOFTMAX = paths.solution(catalog.find("02").folder).read_text("utf-8")


def hand_ins(exercise) -> list[Submission]:
    """The solution, right answers in other styles, known mistakes, the stub, what crashes; each of them twice."""
    files = [paths.solution(exercise.folder), paths.stub(exercise.folder), *sample(paths.styles(exercise.folder), 1)]
    sources = [path.read_text("utf-8") for path in files]
    sources += [mistake.source for mistake in sample(mistakes.mistakes(exercise.folder), 3)]
    sources += [sources[0] + "\nraise SystemExit\n", sources[0].replace("return", "return 1 +", 1), "def f(:\n"]
    # In the last function: the answers of those before it come first.
    *_, last = re.finditer(r"^( +)return .*$", sources[0], flags=re.M)
    for end in ("while True:\n{0}    pass", "import os\n{0}os._exit(3)"):
        sources.append(sources[0][: last.start()] + last[1] + end.format(last[1]) + sources[0][last.end() :])
    once = [Submission(f"# {number}\n{source}", f"{exercise.slug}.py") for number, source in enumerate(sources)]
    return [*once, *(replace(one, source=f"#{one.source}") for one in reversed(once))]


def told(result) -> dict:
    """All that a learner reads."""
    checks = [(check.id, check.outcome, check.message, check.diagnosis) for check in result.checks]
    return {"status": result.status, "points": result.points, "message": result.message, "checks": checks,
            "output": result.output, "notes": result.notes}  # fmt: skip


@pytest.mark.parametrize("number", sample(["07", "02", "04"], 1))
def test_verdicts_of_a_class_are_those_of_a_submission_alone(number, fork_server):
    exercise, settings = catalog.find(number), Settings(seed=SEED, reveal=False)
    exercise = replace(exercise, limits=replace(exercise.limits, call_cpu_s=0.3))  # loops end sooner
    handed_in = hand_ins(exercise)
    results = [*grading.results(exercise, handed_in, fork_server, settings)]
    assert len(results) == len(handed_in)
    half = len(handed_in) // 2
    for submission, result, again in zip(handed_in[:half], results, reversed(results)):
        alone = told(grading.result(exercise, submission, fork_server, settings))
        assert told(result) == alone, submission.source[:200]
        assert told(again) == alone, submission.source[:200]


@pytest.mark.parametrize(
    "one, other",
    [
        (f"# Ada\n{SOFTMAX}", f"# Ben\n{SOFTMAX}"),
        (SOFTMAX, f"{SOFTMAX}\n\n# the end\n"),
        (SOFTMAX, SOFTMAX.replace("exponentials", "e")),
        (SOFTMAX, f'{SOFTMAX}\nif __name__ == softmax_naive.__module__ != "__main__":\n    softmax_naive = None\n'),
    ],
)
def test_of_files_that_a_worker_could_tell_apart_each_is_judged(one, other, fork_server, monkeypatch):
    """A comment, a name or a docstring may be what the code of the file reads: equal bytes alone share a verdict."""
    exercise = catalog.find("02")
    tasks = [
        json.dumps(asdict(Task(f"key {number}", exercise.folder, text, f"{exercise.slug}.py")))
        for number, text in enumerate((one, other))
    ]
    answers = io.StringIO()
    job = Job(io.StringIO("\n".join(tasks)), answers)
    job.fork_server, job.task, workers, spawn = fork_server, job.next(), [], ForkServer.spawn
    monkeypatch.setattr(ForkServer, "spawn", lambda *given: workers.append(given) or spawn(*given))
    settings = Settings(seed=SEED, reveal=False)
    for result in grading.results(exercise, job.row(exercise), fork_server, settings):
        job.record(result)
    results = [json.loads(line) for line in answers.getvalue().splitlines()]
    assert [result["status"] for result in results] == ["passed", "failed" if "__module__" in other else "passed"]
    assert len(workers) >= 3  # two of them have no ready-made functions


def test_the_title_of_a_cell_is_no_comment(fork_server):
    """The grader reads it where it says what is in which cell, so it decides what is run on its own."""
    exercise, settings = catalog.find("02"), Settings(seed=SEED, reveal=False)
    broken = "# %% cell 2\nsoftmax_stable = (\n"
    handed_in = [Submission(text, "a.py") for text in (f"{SOFTMAX}\n{broken}", f"# %% cell 1\n{SOFTMAX}\n{broken}")]
    together = [told(result) for result in grading.results(exercise, handed_in, fork_server, settings)]
    assert together == [told(grading.result(exercise, one, fork_server, settings)) for one in handed_in]
