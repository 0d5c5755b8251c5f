"""Pseudonyms for the page of the class and for lists of similar pairs. The key stands in a file of its own."""

import csv
import io
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from grader.catalog.errors import WrongUse
from grader.classroom.grades import cell
from grader.classroom.handins import Student
from grader.classroom.roster import sheet

NAME = "pseudonyms.csv"
TITLES = ("pseudonym", "student", "name")


def of(path: Path, students: Iterable[Student]) -> dict[str, Student]:
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


def _name(number: int) -> str:
    return f"student {number:04}"


def _read(path: Path) -> dict[str, str]:
    """The pseudonyms there are, by student."""
    if not path.exists():
        return {}
    table = sheet.read(path)
    columns = [table.column(title) for title in TITLES[:2]]
    rows = ([table.cell(row, column) for column in columns] for row in range(len(table.rows)))
    return {student: pseudonym for pseudonym, student in rows if pseudonym and student}


def _write(path: Path, rows: Iterable[list[str]]) -> None:
    """Add rows to the key."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8", newline="") as file:
            if not path.stat().st_size:
                writer.writerow(TITLES)
            writer.writerows(rows)
            file.write(text.getvalue())
    except OSError as error:
        raise WrongUse(f"{path} cannot be written: {error.strerror}") from None
