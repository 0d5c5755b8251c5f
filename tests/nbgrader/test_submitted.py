"""`kata grade COURSE --assignment NAME` grades in parallel, and nbgrader's own `autograde` takes the results."""

import csv
import shutil
from pathlib import Path

import pytest
from a_course import FOLDER, FULL, Course, cell
from extras import WhenUsed, needed

from grader.catalog.errors import BadSubmission

pytestmark = pytest.mark.slow

needed("nbgrader", "classroom")
nbformat = WhenUsed("nbformat")
cells, submitted = (WhenUsed(f"grader.integrations.nbgrader.{name}") for name in ("cells", "submitted"))

SEED = 7
NO_SANDBOX = "\nc.GradeInSandbox.tier = 'D'\n"  # what autograde cannot grade with
GRADED = ("ada", "ben", "late", "stub")


def fill(course: Course) -> None:
    """Right, half right, late, not begun; a file that is no notebook, and one with another name."""
    half = course.solved()
    code = cell(half, "write_context_vector")
    code.source = "def context_vector(inputs, query_index):\n    return inputs[query_index]"
    graded = cell(half, "task_3")
    graded.source, graded.metadata.nbgrader.points = "raise SystemExit", 99
    course.submit("ada", course.solved(), "2026-01-01 10:00:00 UTC")
    course.submit("ben", half, "2026-01-01 11:00:00 UTC")
    course.submit("late", course.solved(), "2026-02-01 10:00:00 UTC")
    course.submit("stub", course.released())
    course.submit("torn", '{"cells": [')
    other = course.submit("eve", course.solved()) / f"{FOLDER}.ipynb"
    other.rename(other.with_name("context_vectors (1).ipynb"))
    with course.gradebook() as book:
        book.add_student("zoe", first_name="Zoë", last_name="Absent")


def set_up(course: Course, text: str) -> None:
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(text)


def state(course: Course) -> dict:
    """What a run of autograde leaves: rows of the gradebook and files, without the ids that nbgrader draws."""
    found = {}
    with course.gradebook() as book:
        for entry in book.assignment_submissions(FOLDER):
            (notebook,) = entry.notebooks
            grades = sorted((g.name, g.auto_score, g.needs_manual_grade, g.score) for g in notebook.grades)
            found[entry.student.id] = (entry.timestamp, notebook.late_submission_penalty, grades)
    for path in sorted((course.root / "autograded").rglob("*.ipynb")):
        outputs = [one.get("outputs") for one in nbformat.read(path, 4).cells]
        found[str(path.relative_to(course.root))] = outputs
    return found


@pytest.fixture
def grade(said, here):
    """`grade(course)` is what `kata grade` does with the assignment of a course."""
    return lambda course: said("grade", ".", "--assignment", FOLDER, cwd=course.root)


def test_autograde_takes_the_results_and_leaves_what_it_would_have_left(classroom, grade, tmp_path):
    fill(classroom)
    set_up(classroom, f"c.GradeInSandbox.seed = {SEED}\n")
    shutil.copytree(classroom.root, tmp_path / "other" / "kata")
    stock = Course(tmp_path / "other" / "kata")
    stock.nbgrader("autograde", FOLDER, ok=False)
    done = grade(classroom)
    assert done.returncode == 3 and f"Seed {SEED}" in done.stderr, done.stderr  # the course's settings hold
    results = classroom.root / "results" / FOLDER
    with (results / "marks.csv").open() as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert {id: row["status"] for id, row in rows.items()} == {
        "ada": "graded", "ben": "graded", "late": "graded", "stub": "not begun", "torn": "needs a person",
        "eve": "needs a person", "zoe": "nothing handed in",
    }  # fmt: skip
    assert "context_vectors (1).ipynb" in rows["eve"]["note"] and rows["zoe"]["name"] == "Zoë Absent"
    assert "Zoë Absent" in (results / "class.html").read_text("utf-8")
    set_up(classroom, NO_SANDBOX)  # so autograde grades nothing itself
    done = classroom.nbgrader("autograde", FOLDER, ok=False)
    mine, theirs = state(classroom), state(stock)
    assert set(GRADED) < set(mine) == set(theirs)
    for name in mine:
        assert mine[name] == theirs[name], name
    assert classroom.scores("ada") == FULL and classroom.scores("ben")["task_2"] == 0.0


def test_what_has_changed_since_is_graded_by_autograde_and_without_a_sandbox_nothing_is(classroom, grade):
    """An infrastructure failure is no grade: the submission stays in need of autograding, then is graded."""
    classroom.submit("ada", classroom.solved())
    classroom.submit("ben", classroom.released())
    assert grade(classroom).returncode == 0
    changed = classroom.solved()
    cell(changed, "write_context_vector").source += "\n# mine"  # else ada's result would be taken for it
    classroom.submit("ben", changed)
    done = classroom.nbgrader("autograde", FOLDER, "--GradeInSandbox.tier=D", ok=False)
    assert done.returncode == 1
    assert "of ben was not graded: refused to grade others' code: there is no sandbox here" in done.stderr
    assert not (classroom.root / "autograded" / "ben" / FOLDER).exists()
    assert set(classroom.scores("ben").values()) == {None}
    classroom.nbgrader("autograde", FOLDER)
    assert classroom.scores("ada") == classroom.scores("ben") == FULL


def test_a_course_that_cannot_be_graded_says_what_to_type(classroom, said, tmp_path):
    def told(folder: Path, name: str = FOLDER, *options: str) -> str:
        done = said("grade", folder, "--assignment", name, *options)
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
        return done.stderr

    (tmp_path / "nowhere").mkdir()
    assert "make nbgrader COURSE=dir" in told(tmp_path / "nowhere")
    assert "no assignment 3. Did you mean 03_context_vectors" in told(classroom.root, "3")
    assert "nbgrader generate_assignment 04_other" in told(classroom.root, "04_other")
    assert f"nbgrader collect {FOLDER}" in told(classroom.root)
    assert "leave OUT=… away" in told(classroom.root, FOLDER, "--out", "elsewhere")
    (classroom.root / "gradebook.db").unlink()
    assert f"nbgrader generate_assignment {FOLDER}" in told(classroom.root)
    assert not (classroom.root / "gradebook.db").exists()


def test_a_link_is_not_followed(classroom):
    classroom.submit("ada", classroom.solved())
    (handin,) = submitted.find(submitted.open_course(classroom.root, FOLDER)).found.handins
    link = classroom.root / "submitted/ada" / FOLDER / f"{FOLDER}.ipynb"
    link.unlink()
    link.symlink_to(classroom.root / "source" / FOLDER / f"{FOLDER}.ipynb")  # the solution
    with pytest.raises(BadSubmission, match="link"):
        handin.read()
