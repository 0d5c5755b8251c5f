"""The marks of a class as CSV.

What was not handed in, or could not be graded, has an empty cell and not a zero, so that the platform's own rule for
missing work applies. A file that was handed in untouched has 0 points.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence

from grader import catalog
from grader.classroom import versions
from grader.classroom.marks import Mark
from grader.classroom.summary import Summary
from grader.records.sanitize import inert

TITLES = ("student", "name", "exercise", "points", "max", "status", "file", "note", "grader")
# A spreadsheet reads a formula at the start of a cell, also of a cell that a wrong separator makes.
FORMULA = re.compile(r"(^|[;,|\t])(\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")


def marks_csv(marks: Iterable[Mark]) -> str:
    """A line for each student and exercise, and for each file that got no mark."""
    rows: list[Sequence[object]] = [TITLES]
    for mark in marks:
        who = (mark.student.id, mark.student.name) if mark.student else ("", "")
        most = number(catalog.find(mark.exercise).max_points) if mark.exercise else ""
        note = f"{mark.note}. To do: {mark.to_do}" if mark.to_do else mark.note
        texts = [*who, mark.exercise, number(mark.points), most, mark.status, mark.file, note, versions.shown()]
        rows.append([cell(text) for text in texts])
    return csv_text(rows)


def grades_csv(summary: Summary) -> str:
    """A row for each student, and a column for each exercise. An empty cell is no mark."""
    rows: list[Sequence[object]] = [["student", "name", *(one.folder for one in summary.exercises), "grader"]]
    for row in summary.rows:
        points = (number(mark.points) if mark else "" for mark in row.marks)
        rows.append([cell(row.student.id), cell(row.student.name), *points, versions.shown()])
    return csv_text(rows)


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def number(points: float | None, missing: str = "") -> str:
    """Points as text that can be imported in every locale: "7", "6.5"; `missing` for None."""
    return missing if points is None else f"{points:.6f}".rstrip("0").rstrip(".")


def round_points(points: float | None) -> str:
    return "–" if points is None else number(round(points, 2))


def cell(text: str) -> str:
    """The text as one safe line that no spreadsheet reads as a formula."""
    return FORMULA.sub(r"\1\2'", inert(" ".join(text.split())))
