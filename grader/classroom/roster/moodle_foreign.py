"""Recognizes Moodle's files in another language by their structure, since Moodle translates the titles of columns.

The order of the columns is the same in every language. A worksheet (mod/assign/gradingtable.php) begins with the
identifier, a word and a number in each cell; then come the full name, what the site shows of users, the status, the
grade, the maximum, whether the grade can be changed, and two times whose titles are one but for what stands in
parentheses: of the submission and of the grade. A grade export (grade/export/lib.php) begins with both names, has an
e-mail address, and after it grades with "(what is shown)" behind each title. What is less sure is taken for neither.
"""

import re
from collections.abc import Iterable

from grader.classroom.roster.sheet import Sheet

NUMBERED = re.compile(r"(\D*?)\s*(\d+)")  # "Teilnehmer/in123"
BRACKETED = re.compile(r"(.*?)\s*[(（][^()（）]+[)）]\s*", re.S)
EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
NO_GRADE = ("", "-")


def titles(sheet: Sheet) -> dict[int, str]:
    """The English titles of the columns of a worksheet or an export, by index; {} where it is neither."""
    return (_worksheet(sheet) or _export(sheet)) if sheet.rows else {}


def _worksheet(sheet: Sheet) -> dict[int, str]:
    """The titles of a grading worksheet."""
    times, grade = _times(sheet), _grade(sheet)
    if times is None or grade is None or not grade + 2 <= times[0] or not _is_identifier(sheet):
        return {}
    english = {0: "Identifier", grade: "Grade", grade + 1: "Maximum Grade"}
    english |= {times[0]: "Last modified (submission)", times[1]: "Last modified (grade)"}
    if times[0] - 1 > grade + 1:
        english[times[0] - 1] = "Grade can be changed"
    if grade > 2:  # else the assignment is anonymous
        english[1] = "Full name"
        english |= _user_fields(sheet, range(2, grade - 1))
    return english


def _export(sheet: Sheet) -> dict[int, str]:
    """The titles of a grade export."""
    count = len(sheet.header)
    email = next((index for index in range(2, count) if _all(EMAIL, _cells(sheet, index))), None)
    if email is None or not all(any(_cells(sheet, index)) for index in (0, 1)):
        return {}
    grades = [index for index in range(email + 1, count) if BRACKETED.fullmatch(sheet.header[index])]
    names = [cell for index in (0, 1) for cell in _cells(sheet, index)]
    if not grades or any(NUMBER.search(name) or "@" in name for name in names):
        return {}
    return {0: "First name", 1: "Last name", email: "Email address"}


def _is_identifier(sheet: Sheet) -> bool:
    """Whether the first column holds one word with different numbers."""
    matches = [NUMBERED.fullmatch(cell) for cell in _cells(sheet, 0)]
    words, numbers = {match[1] for match in matches if match}, {match[2] for match in matches if match}
    return all(matches) and len(words) == 1 and words != {""} and len(numbers) == len(matches)


def _times(sheet: Sheet) -> tuple[int, int] | None:
    """The columns of both times."""
    before_brackets = {
        index: match[1] for index, title in enumerate(sheet.header) if (match := BRACKETED.fullmatch(title))
    }
    indices = list(before_brackets)
    for first, second in zip(indices[-2::-1], indices[:0:-1]):  # the last two that are alike
        longer = max(len(before_brackets[first]), len(before_brackets[second]))
        if longer and _alike(before_brackets[first], before_brackets[second]) >= longer / 2:
            return first, second
    return None


def _alike(first: str, second: str) -> int:
    """How many characters are the same at the beginning."""
    return next((index for index, (a, b) in enumerate(zip(first, second)) if a != b), min(len(first), len(second)))


def _grade(sheet: Sheet) -> int | None:
    """The column of the grade: before the last one that holds the same number in each row, which is the maximum."""
    for index in range(len(sheet.header) - 1, 2, -1):
        cells, before = _cells(sheet, index), _cells(sheet, index - 1)
        is_maximum = len(set(cells)) == 1 and _all(NUMBER, cells)
        if is_maximum and all(cell in NO_GRADE or NUMBER.fullmatch(cell) for cell in before):
            return index - 1
    return None


def _user_fields(sheet: Sheet, columns: Iterable[int]) -> dict[int, str]:
    """The fields that the site shows of its users: the e-mail address, and another one that no two of them share."""
    english: dict[int, str] = {}
    for index in columns:
        cells = [cell for cell in _cells(sheet, index) if cell]
        if _all(EMAIL, cells) and "Email address" not in english.values():
            english[index] = "Email address"
        elif len(cells) == len(sheet.rows) == len(set(cells)) and "Username" not in english.values():
            english |= {index: "Username"} if not any(cell.split()[1:] for cell in cells) else {}
    return english


def _cells(sheet: Sheet, column: int) -> list[str]:
    return [sheet.cell(row, column) for row in range(len(sheet.rows))]


def _all(form: re.Pattern[str], cells: list[str]) -> bool:
    """Whether there are cells with a text, all of this form."""
    return any(cells) and all(form.fullmatch(cell) for cell in cells if cell)
