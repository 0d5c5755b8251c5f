"""A platform's CSV file, written again with its columns, their order and its separators, and the people in it."""

import codecs
import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.catalog.errors import WrongUse
from grader.classroom.handins import Student
from grader.records.sanitize import label

MAX_BYTES = 64 << 20
SEPARATORS = (",", ";", "\t")
BOM = "\ufeff"
SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how files of .xlsx and .ods begin, and of .xls
QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True)
class Sheet:
    """The cells of a file. rows: below the header; bom, separator, line_end: as the file has them.

    english: what columns are called in English, by index, where the file is in another language.
    """

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    separator: str = ","
    line_end: str = "\n"
    bom: bool = False
    english: Mapping[int, str] = field(default_factory=dict)

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the columns, in English as far as that is known."""
        return tuple(self.english.get(index, title).strip() for index, title in enumerate(self.header))

    def column(self, *titles: str) -> int | None:
        """The index of the first column with one of these titles, whatever their case; None where there is none."""
        folded_titles = [title.casefold() for title in self.titles]
        return next((folded_titles.index(title) for title in map(str.casefold, titles) if title in folded_titles), None)

    def cell(self, row: int, column: int | None) -> str:
        """The text of a cell; "" where the row is too short, or there is no such column."""
        cells = self.rows[row]
        return cells[column].strip() if column is not None and column < len(cells) else ""

    def cells(self, *titles: str) -> list[tuple[str, ...]]:
        """The texts of the columns with these titles, row by row; "" for a column that the file does not have."""
        columns = [self.column(title) for title in titles]
        return [tuple(self.cell(row, column) for column in columns) for row in range(len(self.rows))]

    def fill(self, cells: Mapping[tuple[int, int], str]) -> str:
        """The file with other texts in these cells (row, column). All other cells stay as they are."""
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.separator, lineterminator=self.line_end)
        writer.writerow(self.header)
        for number, row in enumerate(self.rows):
            writer.writerow(cells.get((number, column), cell) for column, cell in enumerate(row))
        return BOM * self.bom + text.getvalue()


def read_sheet(path: Path) -> Sheet:
    """The sheet in a file. Raises WrongUse where it is no CSV file in UTF-8 or UTF-16, or too large."""
    shown_name = label(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise WrongUse(f"{shown_name} cannot be read: {error.strerror}") from None
    if len(data) > MAX_BYTES:
        raise WrongUse(f"{shown_name} is larger than {MAX_BYTES >> 20} MiB: it is no list of students")
    if data.startswith(SPREADSHEETS):
        raise WrongUse(f"{shown_name} is a spreadsheet's own file. Save it there as CSV UTF-8, and name that file")
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # "Unicode text" of a spreadsheet
    try:
        text = data.decode("utf-16" if is_utf16 else "utf-8")
    except UnicodeDecodeError:
        raise WrongUse(f"{shown_name} is no text in UTF-8. Save it as CSV UTF-8, or download it again") from None
    bom = text.startswith(BOM)
    text = text.removeprefix(BOM)
    first = QUOTED.sub("", text).partition("\n")[0]  # without separators and line ends that belong to a title
    separator = max(SEPARATORS, key=first.count)
    try:
        rows = [tuple(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)]
    except csv.Error as error:
        raise WrongUse(f"{shown_name} is no CSV file: {error}") from None
    if not any(rows):
        raise WrongUse(f"{shown_name} is empty: it should hold a line of titles, and one for each student")
    return Sheet(path, rows[0], tuple(rows[1:]), separator, "\r\n" if first.endswith("\r") else "\n", bom)


@dataclass(frozen=True, slots=True)
class Person:
    """One student of the roster. id: safe as the name of a folder; numbers: by which platforms name files; accounts: on
    GitHub, as the list of a classroom there says.
    """

    id: str
    name: str = ""
    email: str = ""
    sis_id: str = ""
    login: str = ""
    section: str = ""
    group: str = ""
    numbers: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()

    @property
    def student(self) -> Student:
        """The person as the results know them."""
        return Student(self.id, self.name)

    @property
    def sections(self) -> str:
        """Section and group in one text, as Canvas names several sections: either may have times of its own."""
        return " and ".join(filter(None, (self.section, self.group)))

    @property
    def keys(self) -> tuple[str, ...]:
        """All that stands for this person alone, without the name."""
        return tuple(
            key for key in (self.id, self.email, self.sis_id, self.login, *self.numbers, *self.accounts) if key
        )


@dataclass(frozen=True)
class Listing:
    """One file of a roster. kind: "canvas", "worksheet", "moodle" or "plain"; people: by row of the sheet.

    exercise: the one whose file this is, or None; is_guessed: what the columns hold was inferred from their order and
    content, since their titles are in another language; is_classroom: it is GitHub Classroom's, and says what the
    accounts of people are called whom another file names.
    """

    kind: str
    sheet: Sheet
    people: dict[int, Person]
    exercise: str | None = None
    is_guessed: bool = False
    is_classroom: bool = False


@dataclass(frozen=True)
class Account:
    """An account of GitHub Classroom. fits: the ids of the people whose it could be."""

    login: str
    name: str
    fits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Roster:
    """A class list. ids: of the person in each row, by the number of the listing and the row.

    accounts: those of which a person must say whose they are.
    """

    people: tuple[Person, ...]
    listings: tuple[Listing, ...]
    ids: dict[tuple[int, int], str]
    accounts: tuple[Account, ...] = ()

    @property
    def by_id(self) -> dict[str, Person]:
        """The people by their id."""
        return {person.id: person for person in self.people}


def without_id(sheet: Sheet, row: int, name: str, column: str) -> str:
    """The message about a row that names a student without an id, whose hand-ins would be nobody's."""
    place = f"{label(str(sheet.path))}, line {row + 2}"
    return f'{place}: {label(name)} has no id. Write one into the column "{column}", or take the line out'


def merge(first: Person, second: Person) -> Person:
    """One person of two files: what the first does not know is taken from the second."""
    facts = {
        name: getattr(first, name) or getattr(second, name)
        for name in ("name", "email", "sis_id", "login", "section", "group")
    }
    return replace(first, **facts, numbers=tuple(dict.fromkeys(first.numbers + second.numbers)))
