"""Grades the submissions of an nbgrader course in parallel and records the results in the gradebook in one process."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps import AutogradeApp

from grader.classroom import without_effect
from grader.classroom.course import overrides
from grader.classroom.handins import Graded, HandIn
from grader.classroom.office import CHANGED, Office
from grader.integrations.nbgrader import autograding, earlier_attempts, late, remarks, submitted
from grader.integrations.nbgrader.autograding import Recorded
from grader.integrations.nbgrader.earlier_attempts import Chosen
from grader.records.sanitize import label


def grade_course(
    course: Path,
    assignment: str,
    grade: Callable[[list[HandIn]], Iterable[Graded]],
    force: bool = False,
    db_url: str | None = None,
    office: Office | None = None,
) -> Recorded:
    """Grade with `grade` what nbgrader's autograde would grade now, and record the results.

    force: grade again what has been autograded; db_url: another database than the course's; office: the rules of the
    course, whose deadline goes into the gradebook, overrides into the scores and comments to the cells,
    also of what has been autograded. Raises WrongUse where there is no such course or assignment.
    """
    app = submitted.open_app(course, assignment, db_url)
    if office is None:
        handins = submitted.waiting(app, force)
        results = {graded.student.id: graded.result for graded in grade(handins)} if handins else {}
        recorded = autograding.record(app, results)
    else:
        late.use(app, office.course)
        by_hand = office.set_by_hand(assignment)
        handins = submitted.waiting(app, force or office.keeps_attempts, by_hand)
        results = {graded.student.id: graded.result for graded in grade(handins)} if handins else {}
        chosen = earlier_attempts.choose(course, office, handins, results)
        again = (
            set(chosen.marks)
            if force or not office.keeps_attempts
            else earlier_attempts.not_recorded(course, app, chosen) | by_hand
        )
        recorded = _record_chosen(course, app, office, chosen, sorted(again & set(chosen.marks)), db_url)
        notes = (
            *remarks.write(course, app, office.comments),
            *without_effect.lines(office, _everybody(app), [assignment]),
        )
        recorded = replace(recorded, notes=(*recorded.notes, *notes))
    students = [handin.student.id for handin in handins]
    missing = {student: "it was not graded" for student in students if student not in results}
    return replace(recorded, failed=missing | dict(recorded.failed) | submitted.refused(app))


def _everybody(app: AutogradeApp) -> list[str]:
    """The ids of all students of the gradebook, and of who handed in."""
    with Gradebook(app.coursedir.db_url, app.coursedir.course_id) as gradebook:
        return sorted({student.id for student in gradebook.students} | submitted.folders(app).keys())


def _record_chosen(
    course: Path, app: AutogradeApp, office: Office, chosen: Chosen, students: Sequence[str], db_url: str | None
) -> Recorded:
    """Record these students' attempts that count, an earlier one from where it is kept."""
    assignment = app.coursedir.assignment_id
    results = {
        id: overrides.of(mark.result, id, office.overrides)
        for id in students
        if (mark := chosen.marks[id]).result is not None
    }
    earlier = sorted(chosen.earlier & set(results))
    earlier_attempts.lay(course, assignment, chosen, earlier)
    kept = submitted.open_app(course, assignment, db_url)
    kept.coursedir.submitted_directory = f"{earlier_attempts.FOLDER}/{earlier_attempts.COUNTING}"
    late.use(kept, office.course)
    parts = [
        autograding.record(app, {id: result for id, result in results.items() if id not in earlier}),
        autograding.record(kept, {id: results[id] for id in earlier}),
    ]
    graded = tuple(id for part in parts for id in part.graded)
    earlier_attempts.note(course, assignment, chosen, (*graded, *sorted(chosen.marks.keys() - set(students))))
    notes = [f"{label(id)} {assignment}: {CHANGED}" for id, mark in chosen.marks.items() if CHANGED in mark.notes]
    return Recorded(graded, {**parts[0].failed, **parts[1].failed}, tuple(sorted(chosen.earlier)), tuple(notes))
