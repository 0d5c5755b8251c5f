"""totals.csv of a course: the scores of nbgrader's gradebook, summed by the rules of course.toml.

nbgrader's own export (grades.csv) has a line for each submission, and neither weights nor dropped results.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from nbgrader.api import Gradebook, SubmittedAssignment

from grader import catalog
from grader.classroom.course import totals
from grader.classroom.grades import cell, number
from grader.classroom.office import Office
from grader.integrations.nbgrader import earlier_attempts, submitted

NAME = "totals.csv"
BY_HAND, NOT_AUTOGRADED = "has cells that wait for a person's score", "is not autograded"

Words = Mapping[tuple[str, str], tuple[str, ...]]  # by student and exercise
Submissions = Mapping[str, Mapping[str, SubmittedAssignment]]  # exercise → student → submission


def table(course: Path, office: Office, db_url: str | None = None) -> str:
    """The file: a row for each student of the gradebook, a column for each assignment that is an exercise.

    Points are nbgrader's, after its penalties; a cell is empty where nothing was handed in or scores are missing, and
    in that last case so is the total.
    """
    directory = submitted.open_app(course, "", db_url).coursedir
    with Gradebook(directory.db_url, directory.course_id) as gradebook:
        folders = {exercise.folder for exercise in catalog.exercises()}
        max_points = {
            assignment.name: float(assignment.max_score)
            for assignment in gradebook.assignments
            if assignment.name in folders
        }
        handed_in = {
            name: {handin.student.id: handin for handin in gradebook.assignment_submissions(name)}
            for name in max_points
        }
        names = {
            student.id: " ".join(filter(None, (student.first_name, student.last_name)))
            for student in gradebook.students
        }
        text = io.StringIO()
        remarks = earlier_attempts.words(course, max_points)
        rows = _rows(office, dict(sorted(max_points.items())), handed_in, names, remarks)
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue()


def _rows(
    office: Office, max_points: Mapping[str, float], handed_in: Submissions, names: Mapping[str, str], remarks: Words
) -> Iterator[list[str]]:
    """The rows, the titles first. max_points: of each exercise in the gradebook; remarks: of attempts that count."""
    exercises = list(max_points)
    maximum = totals.maximum(exercises, list(max_points.values()), office.rule)
    yield ["student", "name", *exercises, "total", "max", "late", "note"]
    for student, name in sorted(names.items()):
        own_handins = {
            exercise: handed_in[exercise][student] for exercise in exercises if student in handed_in[exercise]
        }
        waits = {exercise: reason for exercise, handin in own_handins.items() if (reason := _unfinished(handin))}
        own_overrides = [
            override for override in office.overrides if override.student == student and override.exercise in max_points
        ]
        # An override counts without a submission too.
        by_hand = {override.exercise: override.points for override in own_overrides if not override.check}
        points = [
            _points(own_handins[exercise])
            if exercise in own_handins and exercise not in waits
            else None
            if exercise in own_handins
            else by_hand.get(exercise)
            for exercise in exercises
        ]
        total = None if waits else totals.total(exercises, points, list(max_points.values()), office.rule)
        late = [
            f"{exercise[:2]}: {number(handin.late_submission_penalty)} points lost"
            for exercise, handin in own_handins.items()
            if handin.late_submission_penalty
        ]
        notes = [f"{override.exercise[:2]}: {override.words}" for override in own_overrides] + [
            f"{exercise[:2]}: {reason}" for exercise, reason in waits.items()
        ]
        notes += [
            f"{exercise[:2]}: {remark}" for exercise in own_handins for remark in remarks.get((student, exercise), ())
        ]
        row = [cell(student), cell(name), *map(number, points), number(total), number(maximum)]
        yield [*row, cell("; ".join(late)), cell("; ".join(notes))]


def _points(submission: SubmittedAssignment) -> float:
    """The points that count, as in nbgrader's export: `score` is the value before the penalty."""
    return round(max(0.0, submission.score - (submission.late_submission_penalty or 0.0)), 6)


def _unfinished(submission: SubmittedAssignment) -> str:
    """Why a score is missing, so that the sum would be too low; "" where none is."""
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    if not any(grade.auto_score is None and grade.manual_score is None for grade in grades):
        return ""
    return BY_HAND if any(grade.auto_score is not None for grade in grades) else NOT_AUTOGRADED
