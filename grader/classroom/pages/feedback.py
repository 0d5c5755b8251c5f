"""The feedback for one student: a page and a record, with as much detail as the level of feedback allows.

The results must have been graded with `Settings(reveal=False)`: then no hidden input or expected number is in them.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader import catalog
from grader.catalog import Exercise
from grader.classroom import marking
from grader.classroom.grades import number
from grader.classroom.handins import Student
from grader.classroom.marking import NOTHING, PLAIN, Standing
from grader.records.results import ExerciseResult
from grader.reports import json as as_json
from grader.reports.html import demand_level, verdict
from grader.reports.templating import document

STYLE = ".verdict:target { border-color: var(--strong); } .comment { white-space: pre-line; }"


@dataclass(frozen=True)
class Row:
    """One exercise in the table of a student. result: None where nothing was handed in or graded."""

    folder: str
    result: ExerciseResult | None
    ungraded: bool
    given: float | None = None  # the points that count
    notes: tuple[str, ...] = ()
    comment: str = ""
    unplaced: str = ""  # why the file that was handed in could not be graded

    @property
    def name(self) -> str:
        """The exercise's number and title."""
        return f"{self.folder[:2]} {_exercise(self.folder).title}"

    @property
    def points(self) -> str:
        """The student's points as text."""
        return number(self.given, "–")

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
    standing: Standing = NOTHING,
) -> str:
    """feedback.html, with the same words and pictures as the learner's own report.

    exercises: the folders of all exercises that count; level: one of reports.html.LEVELS; ungraded: exercise folder →
    why the grader has no result. The student is not told the reason.
    """
    by_folder = {result.exercise: standing.shown(result) for result in results}
    rows = []
    for folder in exercises:
        result, mark = by_folder.get(folder), standing.marks.get(folder)
        points_given = standing.points(folder, result.points if result else None)
        is_ungraded = folder in (ungraded or {}) and points_given is None
        notes = mark.words if mark else ()
        comment = standing.comments.get(folder, "")
        unplaced = standing.unplaced.get(folder, "")
        rows.append(Row(folder, None if is_ungraded else result, is_ungraded, points_given, notes, comment, unplaced))
    points, max_points = _sum(results, exercises, standing)
    return document(
        "classroom/pages/templates/feedback.html",
        "Your results",
        style=STYLE,
        student=student.label,
        points=number(points),
        max_points=number(max_points),
        rows=rows,
        level=level,
        verdict=verdict,
        comment=standing.comments.get("", ""),
        weighted=standing.rule != PLAIN,
        unplaced=standing.unplaced.get("", ""),
    )


def record(
    student: Student,
    results: Sequence[ExerciseResult],
    exercises: Sequence[str],
    level: str = "full",
    ungraded: Mapping[str, str] | None = None,
    standing: Standing = NOTHING,
) -> str:
    """result.json: an object with schema, student, name, feedback, points, max_points, ungraded, marks, results.

    marks: by exercise, where the rules of the course say something: the points that count, and why.
    """
    points, max_points = _sum(results, exercises, standing)
    head = {
        "schema": as_json.SCHEMA,
        "student": student.id,
        "name": student.name,
        "feedback": level,
        "points": points,
        "max_points": max_points,
        "ungraded": [folder for folder in exercises if folder in (ungraded or {})],
        "marks": {
            folder: {"points": mark.points, "raw": mark.raw, "why": list(mark.words)}
            for folder, mark in standing.marks.items()
            if mark.words
        },
        "results": [],
    }
    # One line for each result: easy to compare, and json.dumps is ten times as fast without indentation.
    shown = map(standing.shown, results)
    lines = [json.dumps(limit(as_json.record(result), level), ensure_ascii=False) for result in shown]
    start = json.dumps(head, ensure_ascii=False).removesuffix("]}")
    return start + ",".join(f"\n{line}" for line in lines) + "]}\n"


def limit(record: dict[str, Any], level: str) -> dict[str, Any]:
    """The record of a result with as much detail as reports.html.verdict shows. All keys stay; the texts are left out.

    "full": no line; "hints": no message of a check and no prints either; "names": no diagnosis and no message at all;
    "none": no checks.
    """
    demand_level(level)
    if level == "where":
        return record
    record = {**record, "checks": [{**check, "lines": [], "where": ""} for check in record["checks"]]}
    if level == "full":
        return record
    checks = [{**check, "message": "", "call": ""} for check in record["checks"]]
    record = {**record, "output": "", "checks": checks}
    if level == "hints":
        return record
    record |= {"message": "", "notes": [], "checks": [{**check, "diagnosis": None} for check in checks]}
    if "pictures" in record:
        record["pictures"] = []
    return record if level == "names" else {**record, "checks": []}


def points_line(results: Sequence[ExerciseResult], exercises: Sequence[str], standing: Standing) -> str:
    """The points of several exercises in one line, with those that weigh more or less than others."""
    points, max_points = _sum(results, exercises, standing)
    weights = [(folder, standing.rule.weight(folder)) for folder in exercises if standing.rule.weight(folder) != 1]
    weighed = "; ".join(f"{folder[:2]} counts {weight:g} times" for folder, weight in weights)
    return f"Together: {number(points)} of {number(max_points)} points{f' ({weighed})' if weighed else ''}"


def _sum(results: Sequence[ExerciseResult], exercises: Sequence[str], standing: Standing) -> tuple[float, float]:
    """The points, and those of all exercises that count, handed in or not."""
    raw = {result.exercise: result.points for result in results}
    points, max_points = [standing.points(folder, raw.get(folder)) for folder in exercises], list(map(_most, exercises))
    return marking.total(exercises, points, max_points, standing.rule), marking.maximum(
        exercises, max_points, standing.rule
    )


@functools.cache  # needed again for each student
def _exercise(folder: str) -> Exercise:
    return catalog.find(folder)


@functools.cache
def _most(folder: str) -> float:
    return _exercise(folder).max_points
