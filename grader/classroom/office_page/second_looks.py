"""Requests for a second look: requests.csv and requests/<student>.md beside course.toml, or a column of the roster."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader import catalog
from grader.catalog.errors import WrongUse
from grader.classroom.handins import Student
from grader.classroom.history import History
from grader.classroom.office import Office, find_student
from grader.classroom.roster import sheet
from grader.classroom.roster.sheet import Sheet
from grader.records.sanitize import inert, label

FILE, FOLDER = "requests.csv", "requests"
COLUMNS = ("second look", "request")  # titles of the column that holds the text
WHO = ("student", "id", "email", "email address", "e-mail", "username", "login", "name", "full name")
WHAT = ("exercise", "assignment")
NUMBER = re.compile(r"\D*(\d{1,2})\b")  # "Exercise 03: context vectors"
MAX_TEXT = 20_000  # characters of one request


@dataclass(frozen=True)
class Request:
    """One request. student: the id, "" where nobody is meant for sure; exercise: its folder, "" for all of the work.

    name: stays the same as long as its text does; doubt: why nobody is meant.
    """

    student: str
    exercise: str
    text: str
    name: str
    doubt: str = ""


def read(office: Office, students: Iterable[Student], history: History) -> list[Request]:
    """All requests. Raises WrongUse for a file that cannot be read."""
    people, found = list(students), []
    for who, what, text in _entries(office):
        exercise, rest = _exercise(what), inert(text)[:MAX_TEXT]
        student, doubt = "", ""
        try:
            student = find_student(who, people, office, history).id
        except WrongUse as error:
            doubt = f"{error}. Correct it in the request"
        if what and not exercise:
            rest = f"{label(what)}: {rest}"
        name = hashlib.sha256("\0".join((who, what, text)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        found.append(Request(student, exercise, rest, name, doubt))
    return found


def _entries(office: Office) -> Iterator[tuple[str, str, str]]:
    """Who asks about which exercise, and what: as it is written."""
    folder = office.folder or Path()
    if (folder / FILE).exists():
        table = sheet.read_sheet(folder / FILE)
        who, text = table.column(*WHO), table.column(*COLUMNS)
        if who is None or text is None:
            raise WrongUse(f"{folder / FILE} needs the columns student, exercise, request; exercise may be left out")
        for row in range(len(table.rows)):
            if table.cell(row, text):
                yield table.cell(row, who), table.cell(row, table.column(*WHAT)), table.cell(row, text)
    for file in sorted((folder / FOLDER).glob("*.md")):
        try:
            yield file.stem, "", file.read_text("utf-8")[:MAX_TEXT]
        except (OSError, UnicodeDecodeError):
            raise WrongUse(f"{label(str(file))} cannot be read as UTF-8") from None
    for listing in office.roster.listings if office.roster else ():
        for row, person in listing.people.items():
            if asked := _cell(listing.sheet, row):
                yield person.id, listing.exercise or "", asked


def _cell(table: Sheet, row: int) -> str:
    return table.cell(row, table.column(*COLUMNS))


def _exercise(text: str) -> str:
    """The exercise that a cell names; "" where it names none."""
    number = NUMBER.match(text)
    for word in (text, number[1] if number else ""):
        try:
            return catalog.find(word).folder if word else ""
        except catalog.NoSuchExercise:
            continue
    return ""
