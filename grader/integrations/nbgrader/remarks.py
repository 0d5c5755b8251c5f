"""comments.csv and comments/<student>.md in nbgrader's gradebook, where `nbgrader generate_feedback` shows them.

nbgrader has a comment for each cell that the student writes: one of the autograder, and one of a person, which is shown
instead. So a comment takes a cell without a person's, and no person's comment is ever replaced.
"""

from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps import AutogradeApp

from grader.classroom.course.comments import Comments
from grader.classroom.store import Store
from grader.records.sanitize import label

AUTOMATIC = "No response."  # what nbgrader itself says of a cell that was not touched


def write(course: Path, app: AutogradeApp, comments: Comments) -> tuple[str, ...]:
    """Write the comments on an assignment, and take back those that are not in the files any more.

    Returns lines about students who have a person's comment in every cell.
    """
    assignment = app.coursedir.assignment_id
    texts: dict[str, str] = {}
    for (student, exercise), text in sorted(comments.items()):
        if exercise in ("", assignment):
            texts[student] = "\n\n".join(filter(None, (texts.get(student), text)))
    before = _remembered(course, assignment)
    lines = []
    with Gradebook(app.coursedir.db_url, app.coursedir.course_id) as gradebook:
        for submission in gradebook.assignment_submissions(assignment):
            id = submission.student.id
            cells = [comment for notebook in submission.notebooks for comment in notebook.comments]
            for cell in cells:
                if cell.auto_comment is not None and cell.auto_comment == before.get(id):
                    cell.auto_comment = None
            free = [cell for cell in cells if cell.manual_comment is None]
            free.sort(key=lambda cell: (cell.auto_comment == AUTOMATIC, cell.name))
            if id in texts and free:
                free[0].auto_comment = texts[id]
            elif id in texts:
                lines.append(
                    f"{label(id)} {assignment}: every cell has a comment of formgrader's, so the file's is in none"
                )
        gradebook.db.commit()
    _remember(course, assignment, texts)
    return tuple(lines)


def _remembered(course: Path, assignment: str) -> dict[str, str]:
    """The comments that were written last."""
    file = Store(course)
    try:
        return file.fact(f"commented {assignment}", {})
    finally:
        file.close()


def _remember(course: Path, assignment: str, texts: dict[str, str]) -> None:
    file = Store(course)
    try:
        file.note(f"commented {assignment}", texts)
    finally:
        file.close()
