"""Moodle's two files: the grading worksheet of an assignment, and the grade export of a course.

Rules, as they stand in the source of Moodle:

- mod/assign/gradingtable.php writes a worksheet's titles: Identifier ("Participant 123"), Full name, the user fields
  that the site shows (Email address, ID number, Username), Status, Grade, Maximum Grade, Grade can be changed, Last
  modified (submission), Last modified (grade), Feedback comments. The number is a row of assign_user_mapping: it
  belongs to one user in one assignment, is unique on the site, and is the number in the names of submitted files.
- mod/assign/feedback/offline/importgradeslib.php needs Identifier, Grade and Last modified (grade), in this spelling.
- mod/assign/feedback/offline/locallib.php leaves a row out where the grade is as it was, empty, negative or above the
  maximum, and where Moodle's own time is more than a minute later than "Last modified (grade)". Once grades were
  uploaded, an older worksheet is therefore left out row by row; a cell "-" counts as 1970. So each row that gets a
  grade gets the present time too, with its offset from UTC, as PHP's strtotime reads it.
- grade/import/csv/classes/load_data.php lets a person map the columns of a grade export; "-" and "" stand for no grade.
"""

import re
from datetime import datetime, timezone, tzinfo

from grader.classroom.roster import moodle_times
from grader.classroom.roster.people import Person
from grader.classroom.roster.sheet import Sheet

IDENTIFIER = re.compile(r"\D*?(\d+)")
MODULE = re.compile(r"(?:[^:]+: )?(.*?)(?: \([^()]*\))?", re.S)  # "Assignment: title (Real)"
SUBMITTED, GRADED = "Last modified (submission)", "Last modified (grade)"
MAXIMUM = ("Maximum Grade", "Maximum grade")
CHANGEABLE = "Grade can be changed"
NO = frozenset(
    ("no", "nein", "non", "nee", "não", "nej", "nei", "ei", "nem", "nu", "ne", "nie", "ez", "hayır", "нет", "ні", "όχι")
)


def is_worksheet(sheet: Sheet) -> bool:
    """Whether this is the grading worksheet of an assignment."""
    return None not in map(sheet.column, ("Identifier", "Grade", GRADED))


def is_export(sheet: Sheet) -> bool:
    """Whether this is the grade export of a course."""
    names = sheet.column("First name", "First name(s)"), sheet.column("Last name", "Surname")
    return None not in names and sheet.column("ID number", "Email address") is not None


def people(sheet: Sheet) -> dict[int, Person]:
    """The students by row. A person without ID number, e-mail address and user name is known by the full name."""
    by_row = {}
    for row in range(len(sheet.rows)):
        first, last = sheet.cell(row, sheet.column("First name", "First name(s)")), sheet.column("Last name", "Surname")
        name = sheet.cell(row, sheet.column("Full name")) or f"{first} {sheet.cell(row, last)}".strip()
        email, sis_id, login = (
            sheet.cell(row, sheet.column(title)) for title in ("Email address", "ID number", "Username")
        )
        number = IDENTIFIER.fullmatch(sheet.cell(row, sheet.column("Identifier")))
        numbers = (number[1],) if number else ()
        if id := sis_id or email or login or name or "".join(numbers):
            group = sheet.cell(row, sheet.column("Group", "Groups"))
            by_row[row] = Person(id, name, email, sis_id, login, group=group, numbers=numbers)
    return by_row


def title_of(title: str) -> str:
    """The name of the activity in the title of an export's column: "Assignment: Softmax (Real)" → "Softmax"."""
    match = MODULE.fullmatch(title.strip())
    return match[1] if match else title.strip()


def handed_in(sheet: Sheet, row: int, zone: tzinfo) -> datetime | None:
    """When the student of this row handed in, as a worksheet says. zone: of the instructor's Moodle profile."""
    return moodle_times.parsed(sheet.cell(row, sheet.column(SUBMITTED)), zone)


def unread_times(sheet: Sheet) -> list[str]:
    """The times of submissions in a worksheet that cannot be read."""
    texts = (sheet.cell(row, sheet.column(SUBMITTED)) for row in range(len(sheet.rows)))
    return [text for text in texts if text not in ("", "-") and moodle_times.parsed(text, timezone.utc) is None]


def is_locked(sheet: Sheet, row: int) -> bool:
    """Whether Moodle would refuse a grade in this row of a worksheet."""
    return sheet.cell(row, sheet.column(CHANGEABLE)).casefold() in NO


def now() -> str:
    """The present time as strtotime reads it in every time zone."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S+00:00")
