"""The brake on nbgrader's road: from one run that graded a student to the next, and the mark stays meanwhile."""

from datetime import datetime, timedelta, timezone

import pytest
from a_course import FOLDER
from extras import needed, when_used
from test_gradebook import cell, grade  # noqa: F401 (grade: a fixture)

from grader import catalog
from grader.classroom import office

needed("nbgrader", "classroom")
course, gradebook = (when_used(f"grader.integrations.nbgrader.{name}") for name in ("course", "gradebook"))

NOON = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)


def scores(classroom) -> dict[str, float]:
    with classroom.gradebook() as book:
        return {entry.student.id: entry.score for entry in book.assignment_submissions(FOLDER)}


def comments(classroom, student: str) -> str:
    with classroom.gradebook() as book:
        (notebook,) = book.find_submission(FOLDER, student).notebooks
        return "\n".join(filter(None, (comment.comment for comment in notebook.comments)))


def wrong(classroom, index: str = "query_index"):
    half = classroom.solved()
    own = f"def context_vector(inputs, query_index):\n    return inputs[{index}]"
    cell(half, "write_context_vector").source = own
    return half


@pytest.mark.parametrize("attempts", ["latest", "best"])
def test_a_mark_stays_until_the_wait_is_over(classroom, grade, attempts):  # noqa: F811
    rules = classroom.root / "course.toml"
    rules.write_text(f'attempts = "{attempts}"\n[brake]\nattempts = 2\nwait_minutes = 60\n')

    def run(minutes: float):
        own = office.read(rules, None)
        return gradebook.grade_course(classroom.root, FOLDER, grade, office=own, now=NOON + timedelta(minutes=minutes))

    classroom.submit("ada", wrong(classroom), "2026-11-20 10:00:00 UTC")
    classroom.submit("ben", classroom.solved(), "2026-11-20 10:00:00 UTC")
    run(0)
    before = scores(classroom)
    assert before["ben"] == 7 and 0 < before["ada"] < 7
    assert "Graded attempt 1 of 2. The next one can come from 2026-11-20 13:00 UTC on." in comments(classroom, "ada")
    classroom.submit("ada", classroom.solved(), "2026-11-20 12:10:00 UTC")
    done = run(30)
    assert done.held == ("ada",) and not done.failed and not done.notes
    assert scores(classroom) == before and "Not graded: your last graded attempt" in comments(classroom, "ada")
    done = run(61)  # the same hand-in: the wait is over
    assert done.held == () and scores(classroom)["ada"] == 7
    assert "Graded attempt 2 of 2." in comments(classroom, "ada") and "Not graded" not in comments(classroom, "ada")
    assert "Graded attempt 1 of 2." in comments(classroom, "ben")  # who handed in nothing new has used none
    classroom.submit("ada", wrong(classroom, "0"), "2026-11-20 15:00:00 UTC")
    assert run(600).held == ("ada",) and scores(classroom)["ada"] == 7
    assert "All 2 graded attempts are used" in comments(classroom, "ada")
    rules.write_text("")
    run(700)
    assert "graded attempt" not in comments(classroom, "ben")


def test_notebooks_say_it_beforehand(tmp_path):
    (tmp_path / "course.toml").write_text("[brake]\nattempts = 2\n")
    course.make(tmp_path, (catalog.find("03"),))
    text = (tmp_path / "source" / FOLDER / f"{FOLDER}.ipynb").read_text("utf-8")
    assert "You have 2 graded attempts." in text
