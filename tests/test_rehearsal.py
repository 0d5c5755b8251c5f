"""The fast road of a class gives the verdicts of the slow one; what is taken for alike is alike."""

import re
from dataclasses import replace

import pytest
from thorough import sample

from grader import catalog
from grader.catalog import mistakes, paths
from grader.classroom import alike
from grader.judge import examiner
from grader.records.submission import Submission

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
def test_rehearsed_verdicts_are_those_of_a_submission_alone(number, fork_server):
    exercise, settings = catalog.find(number), examiner.Settings(seed=SEED, reveal=False)
    exercise = replace(exercise, limits=replace(exercise.limits, call_cpu_s=0.3))  # loops end sooner
    handed_in, results = hand_ins(exercise), []
    examiner.grade_all(exercise, handed_in, fork_server, settings, lambda _, result: results.append(result))
    assert len(results) == len(handed_in)
    half = len(handed_in) // 2
    for submission, result, again in zip(handed_in[:half], results, reversed(results)):
        alone = told(examiner.grade(exercise, submission, fork_server, settings))
        assert told(result) == alone, submission.source[:200]
        assert told(again) == alone, submission.source[:200]


@pytest.mark.parametrize(
    "one, other",
    [
        (f"# Ada\n{SOFTMAX}", f"# Ben\n{SOFTMAX}"),
        (SOFTMAX, f"{SOFTMAX}\n\n# the end\n"),
        (SOFTMAX.replace("    return", "    # so\n    return"), SOFTMAX.replace("    return", "\n    return")),
    ],
)
def test_files_that_differ_in_comment_lines_are_alike(one, other):
    assert one != other and code(one) == code(other) is not None


@pytest.mark.parametrize(
    "other",
    [
        f"# Ada\n{SOFTMAX}",  # every line number is another
        SOFTMAX.replace("dim", "axis", 1),
        SOFTMAX.replace("    return", "    return  ", 1),
        SOFTMAX + '\nX = """\n# no comment\n"""\n',
        SOFTMAX + '\nX = """\n# none\n"""\n',
    ],
)
def test_what_may_differ_when_it_runs_is_not_alike(other):
    assert code(SOFTMAX) != code(other) is not None


@pytest.mark.parametrize(
    "more",
    [
        "import inspect",
        "import linecache",
        "def f():\n    import time",
        "from traceback import format_exc",
        "x = open('x')\ny = eval('1')",
        "def f(:",
    ],
)
def test_what_could_read_its_own_comments_is_judged_alone(more):
    assert code(f"{SOFTMAX}\n{more}\n") is None


def code(source: str) -> str | None:
    return alike.code(Submission(source, "softmax_naive.py"))
