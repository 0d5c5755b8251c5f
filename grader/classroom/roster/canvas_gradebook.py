"""Canvas' gradebook as it exports it, and as its import takes it back.

Rules, as they stand in the source of canvas-lms:

- lib/gradebook_exporter.rb writes the titles Student (or LastName, FirstName), ID, SIS User ID, SIS Login ID, perhaps
  Integration ID and Root Account, Section, then the course's own columns, assignments as "title (number)", and totals.
  Up to two rows follow that are no students: "Manual Posting", and "    Points Possible". A name that begins with "="
  is written as ="name". A cell says "EX" for an excused student and "N/A" where the assignment is not the student's.
- lib/gradebook_importer.rb finds a student by ID, else by SIS User ID, SIS Login ID and name, and an assignment by the
  number in the title. It reads ";" too, and a decimal comma.
- An empty cell over an existing score is a change there (no_change_to_value?): the score is deleted. So a cell for
  which there are no points is never emptied here, it stays as it was.
"""

import re

from grader.catalog.errors import WrongUse
from grader.classroom.roster.people import Person, without_id
from grader.classroom.roster.sheet import Sheet

TITLE = re.compile(r"(.*)\s\(\d+\)", re.S)  # Assignment.title_and_id
NO_STUDENT = re.compile(r"\s*(points possible|manual posting.*|muted)?\s*", re.I)
QUOTED = re.compile(r'="(.*)"', re.S)
UNTOUCHED = ("EX", "N/A")
TEST_STUDENT = "student, test"  # the course's StudentViewEnrollment, whose login is a hash and who has no SIS ID


def is_mine(sheet: Sheet) -> bool:
    """Whether Canvas wrote this file."""
    first = list(sheet.titles[:3])
    return (first[:2] == ["Student", "ID"] or first == ["LastName", "FirstName", "ID"]) and "Section" in sheet.titles


def people(sheet: Sheet) -> dict[int, Person]:
    """The students by row."""
    return {row: person for row in range(len(sheet.rows)) if (person := _person(sheet, row)) is not None}


def title_of(title: str) -> str:
    """An assignment's title without its number."""
    match = TITLE.fullmatch(title.strip())
    return match[1] if match else title.strip()


def possible_points(sheet: Sheet, column: int) -> str:
    """The cell of the row "Points Possible"; "" without such a row."""
    rows = (row for row in range(len(sheet.rows)) if "Points Possible" in sheet.cell(row, 0))
    return next((sheet.cell(row, column) for row in rows), "")


def _person(sheet: Sheet, row: int) -> Person | None:
    """The student in this row, or None. Raises WrongUse for a name without an ID."""
    id, login = sheet.cell(row, sheet.column("ID")), sheet.cell(row, sheet.column("SIS Login ID"))
    sis_id = sheet.cell(row, sheet.column("SIS User ID"))
    first = sheet.column("FirstName")
    name = sheet.cell(row, 0) if first is None else f"{sheet.cell(row, 0)}, {sheet.cell(row, first)}"
    if quoted := QUOTED.fullmatch(name):
        name = quoted[1]
    if NO_STUDENT.fullmatch(name) or (name.casefold() == TEST_STUDENT and not sis_id and "@" not in login):
        return None
    if not id:
        raise WrongUse(without_id(sheet, row, name, "ID"))
    return Person(
        id,
        name,
        login if "@" in login else "",
        sis_id,
        login,
        sheet.cell(row, sheet.column("Section")),
        numbers=(id,),
    )
