"""The made-up term in nbgrader's real gradebook: the best attempt counts, totals.csv sums by the rules."""

import shutil
import sys
from datetime import datetime
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent))  # a_term and in_this_process stand there

import a_term
from a_course import environment
from a_term import CONTEXT, JOINER, LEAVER, OVERRIDES, SOFTMAX, WEIGHT
from extras import needed, when_used
from in_this_process import Here
from thorough import THOROUGH, nightly

from grader import catalog
from grader.classroom import run

needed("nbgrader", "classroom")
nbformat, apps, api = when_used("nbformat"), when_used("nbgrader.apps"), when_used("nbgrader.api")
course = when_used("grader.integrations.nbgrader.course")

# nbgrader records each submission by itself, which takes its time. Those few have one of each fate.
FEW = (0, 3, a_term.LEAVER, 10, 11, 12, 13, 14, 15, 17, 19, a_term.EXTENDED)
NUMBERS = [*range(20), a_term.EXTENDED] if THOROUGH else list(FEW)


def id_of(number: int) -> str:
    return f"s{number}"


def expected(number: int, folder: str, week: int, broken: str = "") -> float | None:
    return a_term.expected(number, folder, week, max, broken)


def best(number: int, folder: str, week: int) -> int:
    """The index of the attempt that counts: the one with most points after the deduction, of equal ones the latest."""
    tried = a_term.tries(number, folder, week)
    points = [a_term.deducted(a_term.worth(folder, t.text), a_term.days_late(number, folder, t)) for t in tried]
    return max(range(len(points)), key=lambda index: (points[index], index))


class Course:
    """A course with both assignments, in the folder where the command is typed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        course.make(root, (catalog.find(SOFTMAX), catalog.find(CONTEXT)))
        for folder in (SOFTMAX, CONTEXT):
            app = apps.GenerateAssignmentApp()
            app.initialize([f"--course-dir={root}", "--log-level=CRITICAL", folder])
            app.start()

    def submit(self, folder: str, numbers: list[int], week: int) -> None:
        """The latest hand-in of each student, as `nbgrader collect --update` leaves it."""
        for number in numbers:
            if tried := a_term.tries(number, folder, week):
                self.write(folder, number, tried[-1].text, tried[-1].time)

    def write(self, folder: str, number: int, text: str, time: datetime) -> None:
        """A hand-in in place of the one before."""
        released = nbformat.read(self.root / "release" / folder / f"{folder}.ipynb", 4)
        place = self.root / "submitted" / id_of(number) / folder
        place.mkdir(parents=True, exist_ok=True)
        cell = nbformat.v4.new_code_cell(a_term.source(folder, text), id="mine")
        nbformat.write(nbformat.from_dict({**released, "cells": [*released.cells, cell]}), place / f"{folder}.ipynb")
        (place / "timestamp.txt").write_text(f"{time:%Y-%m-%d %H:%M:%S} UTC")

    def gradebook(self) -> "api.Gradebook":
        return api.Gradebook(f"sqlite:///{self.root / 'gradebook.db'}", self.root.name)


@nightly
def test_a_term(fork_server, said, tmp_path, monkeypatch):
    here = Here(fork_server)
    monkeypatch.setattr(run, "executor_of", here)
    monkeypatch.setenv("PATH", environment()["PATH"])  # nbgrader calls alembic
    kata = Course(tmp_path / "kata")
    (kata.root / "course.toml").write_text(a_term.rules(id_of, 'attempts = "best"'))

    def grade(folder: str, *options: str) -> str:
        done = said("grade", "--nbgrader", kata.root, "--assignment", folder, *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stderr

    # Week one: a check of the first assignment is wrong, and fails everybody.
    kata.submit(SOFTMAX, NUMBERS, 1)
    with a_term.other_checkout(tmp_path / "checkout"):
        broken = a_term.break_a_check(tmp_path / "checkout")
        grade(SOFTMAX)
    check(kata, NUMBERS, 1, broken)
    assert here.seen == [SOFTMAX, SOFTMAX]

    # Week two: the check is fixed, the second assignment comes, some try again, one leaves, one joins.
    class_now = [number for number in NUMBERS if number != LEAVER] + [JOINER]
    shutil.rmtree(kata.root / "submitted" / id_of(LEAVER))
    with kata.gradebook() as book:
        book.remove_student(id_of(LEAVER))
    for folder in (SOFTMAX, CONTEXT):
        kata.submit(folder, class_now, 2)
    grade(SOFTMAX, "--force")
    grade(CONTEXT)
    check(kata, class_now, 2)

    # Week three: further attempts, overrides, and a score and a comment that a person writes in formgrader.
    kata.submit(CONTEXT, class_now, 3)
    (kata.root / "overrides.csv").write_text(a_term.overrides(id_of))
    with kata.gradebook() as book:
        notebook = book.find_submission_notebook(CONTEXT, CONTEXT, id_of(11))
        notebook.comments[0].manual_comment = "Come to my office hour."
        book.db.commit()
    (kata.root / "comments.csv").write_text(
        f"student,exercise,comment\n{id_of(11)},03,Well done.\n{id_of(12)},03,Look at task 2.\n{id_of(13)},,Hello.\n"
    )
    judged = len(here.seen)
    grade(SOFTMAX)
    said_of_context = grade(CONTEXT)
    assert here.seen[judged:] == [CONTEXT]  # one new text; rules judge nothing anew
    check(kata, class_now, 3)
    earlier = [n for n in class_now if (tried := a_term.tries(n, CONTEXT, 3)) and best(n, CONTEXT, 3) < len(tried) - 1]
    assert bool(earlier) == ("An earlier attempt counts" in said_of_context)
    assert comments(kata, 11) == {"Come to my office hour.", "Well done."}
    assert comments(kata, 12) == {"Look at task 2."} and comments(kata, 13) == {"Hello."}

    # Nothing new: nothing is recorded again but what is set by hand; a comment that is taken back is gone.
    (kata.root / "comments.csv").write_text(f"student,exercise,comment\n{id_of(12)},03,Look again.\n")
    recorded = len([number for number, folder in OVERRIDES if folder == CONTEXT and number in class_now])
    assert f"{recorded} submissions recorded" in grade(CONTEXT)
    check(kata, class_now, 3)
    assert comments(kata, 11) == {"Come to my office hour."} and comments(kata, 13) == set()
    assert comments(kata, 12) == {"Look again."}

    # A worse file comes after a right one: the right one stays in the gradebook, with its time and its notebook.
    for number in (12, 14):
        kata.write(CONTEXT, number, "wrong", a_term.DEADLINE[CONTEXT])
    assert f"what the gradebook has: {id_of(12)}, {id_of(14)}" in grade(CONTEXT)
    check(kata, class_now, 3)
    (first,) = a_term.tries(14, CONTEXT, 3)
    with kata.gradebook() as book:
        submission = book.find_submission(CONTEXT, id_of(14))
        assert (submission.timestamp, submission.score) == (first.time.replace(tzinfo=None), 7)
    autograded = (kata.root / "autograded" / id_of(14) / CONTEXT / f"{CONTEXT}.ipynb").read_text("utf-8")
    assert nbformat.reads(autograded, 4).cells[-1].source == a_term.source(CONTEXT, "right")
    assert "attempt 1 of 2 counts" in a_term.table(kata.root / "totals.csv")[id_of(14)]["note"]
    assert f"{recorded} submissions recorded" in grade(CONTEXT)  # not the earlier attempts again

    # Another file than the one for which points were given by hand: a person must look again.
    kata.write(CONTEXT, 13, "right", a_term.DEADLINE[CONTEXT])
    (kata.root / "course.toml").write_text(a_term.rules(id_of))  # attempts = "latest"
    with (kata.root / "overrides.csv").open("a") as file:
        file.write("guest,03,2,oral exam,me\nnobody,03,2,,\n")
    with kata.gradebook() as book:
        book.add_student("guest")  # who hands in nothing
    done = said("grade", "--nbgrader", kata.root, "--assignment", CONTEXT, cwd=tmp_path)
    assert done.returncode == 3 and f"{id_of(12)} {CONTEXT}: the hand-in changed" in done.stderr
    assert "the class has no student nobody" in done.stderr and "student guest" not in done.stderr
    row = a_term.table(kata.root / "totals.csv")["guest"]
    assert (row[CONTEXT], row["total"]) == ("2", str(2 * WEIGHT[CONTEXT])) and "oral exam" in row["note"]


def comments(kata: Course, number: int) -> set[str]:
    """All comments in the gradebook on what a student wrote."""
    with kata.gradebook() as book:
        notebook = book.find_submission_notebook(CONTEXT, CONTEXT, id_of(number))
        return {comment.comment for comment in notebook.comments} - {None, "No response."}


def check(kata: Course, numbers: list[int], week: int, broken: str = "") -> None:
    """Hold every number of the gradebook and of totals.csv against the calculation of its own."""
    rows = a_term.table(kata.root / "totals.csv")
    assert set(rows) == {id_of(n) for n in numbers if any(a_term.tries(n, folder, week) for folder in WEIGHT)}
    with kata.gradebook() as book:
        scores = {
            (one.student.id, folder): (one.score - (one.late_submission_penalty or 0), one.late_submission_penalty)
            for folder in (SOFTMAX, CONTEXT)
            for one in book.assignment_submissions(folder)
        }
    for number in numbers:
        points = {folder: expected(number, folder, week, broken) for folder in WEIGHT}
        for folder, wanted in points.items():
            score, penalty = scores.get((id_of(number), folder), (None, None))
            assert (score is None) == (wanted is None) and score == pytest.approx(wanted), (number, folder)
            if wanted is not None:
                given, late = rows[id_of(number)][folder], f"{folder[:2]}: "
                assert float(given) == pytest.approx(wanted), (number, folder)
                assert bool(penalty) == (late in rows[id_of(number)]["late"])
        if any(wanted is not None for wanted in points.values()):
            total = sum((wanted or 0) * WEIGHT[folder] for folder, wanted in points.items())
            assert float(rows[id_of(number)]["total"]) == pytest.approx(total), number
            assert rows[id_of(number)]["max"] == "20"
            by_hand = week == 3 and number in {who for who, _ in OVERRIDES}
            assert ("set by hand" in rows[id_of(number)]["note"]) == by_hand
