"""FEEDBACK=where: the lines that a class's feedback tells, and that no hidden check has a part in them."""

import json
from html import unescape

import pytest
from in_this_process import Here

from grader import catalog
from grader.catalog import paths
from grader.classroom import run
from grader.judge.examiner import Examiner
from grader.judge.grading import final
from grader.judge.session import Session
from grader.judge.where import search
from grader.records.results import Settings
from grader.records.submission import Submission

CONTEXT = "03_context_vectors"
SOLUTION = paths.solution(CONTEXT).read_text("utf-8")
WRONG_AXIS = SOLUTION.replace("return torch.softmax(scores, dim=-1)", "return torch.softmax(scores, dim=0)")
NO_GRADIENT = SOLUTION.replace("return attention_weights(inputs) @", "return attention_weights(inputs).detach() @")
CLASS = {"ada": SOLUTION, "ben": WRONG_AXIS, "cy": NO_GRADIENT}  # a hidden check alone fails the last


def line_of(source: str, text: str) -> int:
    return 1 + next(number for number, line in enumerate(source.splitlines()) if text in line)


@pytest.fixture
def here(fork_server, monkeypatch):
    """The class is graded in this process."""
    executor = Here(fork_server)
    monkeypatch.setattr(run, "executor_of", executor)
    monkeypatch.setattr(run.similar, "pairs", lambda handins, jobs: [])  # it starts processes of its own
    return executor


def test_students_read_the_lines_that_documented_checks_find(here, said, tmp_path):
    for student, source in CLASS.items():
        path = tmp_path / "in" / student / CONTEXT / "context_vectors.py"
        path.parent.mkdir(parents=True)
        path.write_text(source, "utf-8")

    def graded(level: str) -> dict[str, tuple[list[dict], str]]:
        """Of each student the checks in result.json, and feedback.html."""
        done = said("grade", "in", "--feedback", level, "--seed", 3, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found = {}
        for student in CLASS:
            folder = tmp_path / "results" / student
            checks = json.loads((folder / "result.json").read_text("utf-8"))["results"][0]["checks"]
            found[student] = checks, unescape((folder / "feedback.html").read_text("utf-8"))
        return found

    told = graded("where")
    checks, page = told["ben"]
    line = line_of(WRONG_AXIS, "dim=0")
    sentence = f"Look at line {line}, `return torch.softmax(scores, dim=0)"
    assert {tuple(check["lines"]) for check in checks if check["lines"]} == {(line,)}
    assert all(check["where"].startswith(sentence) for check in checks if check["where"])
    assert sentence.replace(" `", " <code>") in page
    assert not any(check["hidden"] for check in checks if check["where"])
    for student in ("ada", "cy"):
        checks, page = told[student]
        assert not any(check["lines"] or check["where"] for check in checks) and "Look at line" not in page
    assert any(check["outcome"] == "failed" for check in told["cy"][0])

    before = len(here.seen)
    told = graded("full")
    assert len(here.seen) == before + len(CLASS)  # results with lines and results without are not mixed
    assert not any(check["lines"] or check["where"] for checks, _ in told.values() for check in checks)
    assert not any("Look at line" in page for _, page in told.values())
    here.seen.clear()
    assert any(check["lines"] for check in graded("where")["ben"][0]) and not here.seen


def test_a_line_that_a_hidden_check_gives_is_the_teachers_alone(fork_server, monkeypatch):
    asked: list[bool] = []  # whether each check that was run is a hidden one
    original = Session.run

    def running(session, check, subject):
        asked.append(check.hidden)
        return original(session, check, subject)

    def found(source: str):
        """Which kinds of checks fail, whether one was run for the students, and the results for both readers."""
        submission = Submission(source, "context_vectors.py")
        with Session(catalog.find("03"), 3) as session, monkeypatch.context() as patch:
            examiner = Examiner(session, fork_server, Settings(seed=3, reveal=False))
            result = final(examiner.examine(submission))
            asked.clear()
            patch.setattr(Session, "run", running)
            students = search.locate(examiner, submission, result)
            assert not any(asked)
            was_asked = bool(asked)
            examiner.settings = Settings(seed=3, reveal=True)
            teachers = search.locate(examiner, submission, result)
            assert any(asked)
        return {check.hidden for check in result.checks if check.outcome == "failed"}, was_asked, students, teachers

    (hidden_alone, was_asked, students, teachers), (both_kinds, was_asked_too, fewer, more) = map(
        found, (NO_GRADIENT, WRONG_AXIS)
    )
    assert hidden_alone == {True} and both_kinds == {True, False}
    line = line_of(NO_GRADIENT, "detach")
    assert {check.lines for check in teachers.checks if check.where} == {(line,)}
    assert not was_asked and not any(check.lines or check.where for check in students.checks)
    assert was_asked_too
    assert 0 < sum(bool(check.lines) for check in fewer.checks) < sum(bool(check.lines) for check in more.checks)
