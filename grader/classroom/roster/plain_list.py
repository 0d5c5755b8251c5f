"""Lists without grades: a plain CSV file, nbgrader's students, and Classroom 50's roster.

nbgrader imports students from the columns id, first_name, last_name, email, lms_user_id (nbgrader db student import).
Classroom 50 keeps username, first_name, last_name, email, section, github_id, role (roster.csv; students.csv before).
"""

from grader.catalog.errors import WrongUse
from grader.classroom.roster.people import Person, without_id
from grader.classroom.roster.sheet import Sheet

IDS = ("id", "student", "student_id", "student id", "username", "identifier", "github_username")
NAMES, FIRST, LAST = ("name", "full name", "full_name"), ("first_name", "first name"), ("last_name", "last name")
EMAILS = ("email", "e-mail", "email address", "email_address")
SIS_IDS = ("sis_id", "sis id", "sis user id", "lms_user_id", "id number")
LOGINS = ("login", "username", "github_username", "sis login id")
STUDENT = ("", "student")


def is_mine(sheet: Sheet) -> bool:
    """Whether the file names students by a column of ids."""
    return sheet.column(*IDS) is not None


def people(sheet: Sheet) -> dict[int, Person]:
    """The students by row. Who has another role is left out. Raises WrongUse for a name without an id."""
    by_row = {}
    for row in range(len(sheet.rows)):
        id, email = sheet.cell(row, sheet.column(*IDS)), sheet.cell(row, sheet.column(*EMAILS))
        both = (sheet.cell(row, sheet.column(*titles)) for titles in (FIRST, LAST))
        name = sheet.cell(row, sheet.column(*NAMES)) or " ".join(filter(None, both))
        if sheet.cell(row, sheet.column("role")).casefold() not in STUDENT or not (id or name or email):
            continue
        if not id:
            raise WrongUse(without_id(sheet, row, name or email, sheet.titles[sheet.column(*IDS) or 0]))
        by_row[row] = Person(
            id,
            name,
            email,
            sheet.cell(row, sheet.column(*SIS_IDS)),
            sheet.cell(row, sheet.column(*LOGINS)),
            sheet.cell(row, sheet.column("section")),
            sheet.cell(row, sheet.column("group")),
        )
    return by_row
