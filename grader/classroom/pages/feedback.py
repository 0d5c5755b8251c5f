"""The feedback for one student: a page and a record, with as much detail as the level of feedback allows.

The results must have been graded with `Settings(reveal=False)`: then no hidden input or expected number is in them.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader import catalog
from grader.catalog import Exercise
from grader.classroom.grades import number
from grader.classroom.handins import Student
from grader.records.results import ExerciseResult
from grader.reports import json as as_json
from grader.reports.html import LEVELS, verdict
from grader.reports.html_page import document

STYLE = ".verdict:target { border-color: var(--link); }"


@dataclass(frozen=True)
class Row:
    """One exercise in the table of a student. result: None where nothing was handed in or graded."""

    folder: str
    result: ExerciseResult | None
    ungraded: bool

    @property
    def name(self) -> str:
        """The exercise's number and title."""
        return f"{self.folder[:2]} {_exercise(self.folder).title}"

    @property
    def points(self) -> str:
        """The student's points as text."""
        return number(self.result.points) if self.result else "–"

    @property
    def max_points(self) -> str:
        """The exercise's points as text."""
        return number(self.result.max_points if self.result else _most(self.folder))


def page(
    student: Student,
    results: Sequence[ExerciseResult],
    exercises: Sequence[str],
    level: str = "full",
    ungraded: Mapping[str, str] | None = None,
) -> str:
    """feedback.html, with the same words and pictures as the learner's own report.

    exercises: the folders of all exercises that count; level: one of reports.html.LEVELS; ungraded: exercise folder →
    why the grader has no result. The student is not told the reason.
    """
    by_folder = {result.exercise: result for result in results}
    rows = []
    for folder in exercises:
        is_ungraded = folder in (ungraded or {})
        rows.append(Row(folder, None if is_ungraded else by_folder.get(folder), is_ungraded))
    points, most = _sum(results, exercises)
    return document(
        "classroom/pages/templates/feedback.html",
        "Your results",
        style=STYLE,
        student=_called(student),
        points=number(points),
        max_points=number(most),
        rows=rows,
        level=level,
        verdict=verdict,
    )


def record(
    student: Student,
    results: Sequence[ExerciseResult],
    exercises: Sequence[str],
    level: str = "full",
    ungraded: Mapping[str, str] | None = None,
) -> str:
    """result.json: {"schema": 1, "student", "name", "feedback", "points", "max_points", "ungraded", "results"}."""
    points, most = _sum(results, exercises)
    head = {
        "schema": as_json.SCHEMA,
        "student": student.id,
        "name": student.name,
        "feedback": level,
        "points": points,
        "max_points": most,
        "ungraded": [folder for folder in exercises if folder in (ungraded or {})],
        "results": [],
    }
    # One line for each result: easy to compare, and json.dumps is ten times as fast without indentation.
    lines = [json.dumps(limited(as_json.record(result), level), ensure_ascii=False) for result in results]
    start = json.dumps(head, ensure_ascii=False).removesuffix("]}")
    return start + ",".join(f"\n{line}" for line in lines) + "]}\n"


def limited(record: dict, level: str) -> dict:
    """The record of a result with as much detail as reports.html.verdict shows. All keys stay; the texts are left out.

    "hints": no message of a check and no prints; "names": no diagnosis and no message at all; "none": no checks.
    """
    if level not in LEVELS:
        raise ValueError(f'"{level}" is no level of feedback. There are: {", ".join(LEVELS)}')
    if level == "full":
        return record
    checks = [{**check, "message": ""} for check in record["checks"]]
    record = {**record, "output": "", "checks": checks}
    if level == "hints":
        return record
    record |= {"message": "", "notes": [], "checks": [{**check, "diagnosis": None} for check in checks]}
    if "pictures" in record:
        record["pictures"] = []
    return record if level == "names" else {**record, "checks": []}


def _sum(results: Sequence[ExerciseResult], exercises: Sequence[str]) -> tuple[float, float]:
    """The points, and those of all exercises that count, handed in or not."""
    return round(sum(result.points for result in results), 6), round(sum(map(_most, exercises)), 6)


@functools.cache  # needed again for each student
def _exercise(folder: str) -> Exercise:
    return catalog.find(folder)


@functools.cache
def _most(folder: str) -> float:
    return _exercise(folder).max_points


def _called(student: Student) -> str:
    """The student's name and id, once where they are the same."""
    return student.id if student.name in ("", student.id) else f"{student.name} ({student.id})"
