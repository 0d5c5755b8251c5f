"""The grades of a class as CSV: plain, or for import by Canvas or Moodle; and the key of pseudonyms.

An exercise that was not handed in, or could not be graded, has an empty cell and not a zero, so that the platform's
own rule for missing work applies ("-" in Moodle's file). A file that was handed in untouched has 0 points.
"""

import csv
import io
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from grader.catalog import Exercise
from grader.catalog.errors import WrongUse
from grader.classroom import private
from grader.classroom.handins import Class, Student
from grader.classroom.roster import sheet
from grader.classroom.summary import Row, Summary
from grader.records.sanitize import inert

FORMS = ("plain", "canvas", "moodle")
# A spreadsheet reads a formula at the start of a cell, also of a cell that a wrong separator makes.
FORMULA = re.compile(r"(^|[;,|\t])(\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
NUMBER = re.compile(r"[0-9]+")
PSEUDONYMS = "pseudonyms.csv"
PSEUDONYM_TITLES = ("pseudonym", "student", "name")


def as_csv(klass: Class, form: str = "plain") -> str:
    """The grades of a class, one row for each student. Raises ValueError for an unknown form."""
    return table(Summary.of(klass), form)


def table(summary: Summary, form: str = "plain") -> str:
    """The grades of a summary, one row for each student. Raises ValueError for an unknown form."""
    if form not in FORMS:
        raise ValueError(f'"{form}" is no form of grades. There are: {", ".join(FORMS)}')
    rows = {"plain": _plain, "canvas": _canvas, "moodle": _moodle}[form](summary)
    return csv_text(rows)


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as the text of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def number(points: float | None, missing: str = "") -> str:
    """Points as text that can be imported in every locale: "7", "6.5"; `missing` for None."""
    return missing if points is None else f"{points:.6f}".rstrip("0").rstrip(".")


def round_points(points: float | None) -> str:
    """Points with two digits, as they are read and not computed with."""
    return "–" if points is None else number(round(points, 2))


def cell(text: str) -> str:
    """The text as one safe line that no spreadsheet reads as a formula."""
    return FORMULA.sub(r"\1\2'", inert(" ".join(text.split())))


def pseudonyms_of(path: Path, students: Iterable[Student]) -> dict[str, Student]:
    """A student with a pseudonym for each one, by id. Who has one keeps it; new ones are drawn and added to the key.

    Only the owner can read the key. Raises WrongUse where it cannot be read or written.
    """
    pseudonyms = _read(path)
    members = list(students)
    new = [student for student in members if cell(student.id) not in pseudonyms]
    free = [
        number for number in range(1, len(pseudonyms) + len(new) + 1) if _name(number) not in set(pseudonyms.values())
    ]
    secrets.SystemRandom().shuffle(free)
    for student in new:
        pseudonyms[cell(student.id)] = _name(free.pop())
    if new:
        rows = [[pseudonyms[cell(student.id)], cell(student.id), cell(student.name)] for student in new]
        _write(path, rows)
    return {student.id: Student(pseudonyms[cell(student.id)]) for student in members}


def _plain(summary: Summary) -> Iterator[list[str]]:
    """The columns of the exercises are named by their folders. No total where one could not be graded."""
    yield ["student", "name", *(exercise.folder for exercise in summary.exercises), "total", "max", "late", "note"]
    for row in summary.rows:
        words = cell("; ".join(row.late)), cell("; ".join(row.notes))
        yield [*_who(row), *map(number, row.points), number(row.total), number(summary.max_points), *words]


def _canvas(summary: Summary) -> Iterator[list[str]]:
    """Canvas' gradebook import: it finds a student by ID, else SIS User ID, else SIS Login ID, else by name.

    So the id is written into all three columns: the files' names do not say which kind it is. An empty cell means no
    grade.
    """
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *_titles(summary.exercises)]
    yield ["    Points Possible", "", "", "", "", *(number(exercise.max_points) for exercise in summary.exercises)]
    for row in summary.rows:
        id, name = _who(row)
        canvas_id = id if NUMBER.fullmatch(id) else ""
        # Canvas takes any row whose first cell says "Points Possible" for the second row of the file.
        name = (name or id).replace("Points Possible", "Points_Possible")
        yield [name, canvas_id, id, id, "", *map(number, row.points)]


def _moodle(summary: Summary) -> Iterator[list[str]]:
    """One file for both of Moodle's imports.

    The gradebook's (Import, CSV file): map from "ID" to whatever the submissions' names are (user name, email,
    ID number), and the exercises' columns to grade items. That column is never empty: Moodle would then write the
    grades to the student of the row before. An assignment's "Upload grading worksheet" reads Identifier, Grade and
    Last modified (grade) alone: the identifiers are the participant numbers of Moodle's own archive.
    """
    yield ["Identifier", "Full name", "ID", *_titles(summary.exercises), "Grade", "Last modified (grade)"]
    for row in summary.rows:
        id, name = _who(row)
        identifier = f"Participant {id}" if NUMBER.fullmatch(id) else id
        points = [number(points, "-") for points in row.points]
        # In a worksheet "-" would be read as 0, and an empty grade is skipped.
        yield [identifier, name, id, *points, number(row.total) if row.handed_in else "", ""]


def _who(row: Row) -> tuple[str, str]:
    """The student's id and name as safe cells."""
    return cell(row.student.id), cell(row.student.name)


def _titles(exercises: Sequence[Exercise]) -> list[str]:
    return [f"{exercise.folder[:2]} {exercise.title}" for exercise in exercises]


def _name(number: int) -> str:
    return f"student {number:04}"


def _read(path: Path) -> dict[str, str]:
    """The pseudonyms there are, by student."""
    if not path.exists():
        return {}
    rows = sheet.read_sheet(path).cells(*PSEUDONYM_TITLES[:2])
    return {student: pseudonym for pseudonym, student in rows if pseudonym and student}


def _write(path: Path, rows: Iterable[list[str]]) -> None:
    """Add rows to the key."""
    try:
        private.append(path, PSEUDONYM_TITLES, rows)
    except OSError as error:
        raise WrongUse(f"{path} cannot be written: {error.strerror}") from None
