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
BY_HAND = "has cells that wait for a person's score"

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
        most = {one.name: float(one.max_score) for one in gradebook.assignments if one.name in folders}
        handed_in = {name: {one.student.id: one for one in gradebook.assignment_submissions(name)} for name in most}
        names = {one.id: " ".join(filter(None, (one.first_name, one.last_name))) for one in gradebook.students}
        text = io.StringIO()
        said = earlier_attempts.words(course, most)
        rows = _rows(office, dict(sorted(most.items())), handed_in, names, said)
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue()


def _rows(
    office: Office, most: Mapping[str, float], handed_in: Submissions, names: Mapping[str, str], said: Words
) -> Iterator[list[str]]:
    """The rows, the titles first. most: the points of each exercise in the gradebook; said: of attempts that count."""
    exercises = list(most)
    maximum = totals.maximum(exercises, list(most.values()), office.rule)
    yield ["student", "name", *exercises, "total", "max", "late", "note"]
    for student, name in sorted(names.items()):
        mine = {exercise: handed_in[exercise][student] for exercise in exercises if student in handed_in[exercise]}
        waits = [exercise for exercise, one in mine.items() if _is_unfinished(one)]
        given = [one for one in office.overrides if one.student == student and one.exercise in most]
        by_hand = {one.exercise: one.points for one in given if not one.check}  # also without a submission
        points = [
            _points(mine[one]) if one in mine and one not in waits else None if one in mine else by_hand.get(one)
            for one in exercises
        ]
        total = None if waits else totals.total(exercises, points, list(most.values()), office.rule)
        late = [
            f"{exercise[:2]}: {number(one.late_submission_penalty)} points lost"
            for exercise, one in mine.items()
            if one.late_submission_penalty
        ]
        notes = [f"{one.exercise[:2]}: {one.words}" for one in given] + [f"{one[:2]}: {BY_HAND}" for one in waits]
        notes += [f"{one[:2]}: {word}" for one in mine for word in said.get((student, one), ())]
        row = [cell(student), cell(name), *map(number, points), number(total), number(maximum)]
        yield [*row, cell("; ".join(late)), cell("; ".join(notes))]


def _points(submission: SubmittedAssignment) -> float:
    """What counts, as nbgrader's export has it: its own score is the one before the penalty."""
    return round(max(0.0, submission.score - (submission.late_submission_penalty or 0.0)), 6)


def _is_unfinished(submission: SubmittedAssignment) -> bool:
    """Whether a score is missing: the sum would be too low."""
    grades = (grade for notebook in submission.notebooks for grade in notebook.grades)
    return any(grade.auto_score is None and grade.manual_score is None for grade in grades)
