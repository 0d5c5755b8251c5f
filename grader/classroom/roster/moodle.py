"""Moodle's two files: the grading worksheet of an assignment, and the grade export of a course, in any language.

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

The order of the columns is the same in every language. A worksheet (mod/assign/gradingtable.php) begins with the
identifier, a word and a number in each cell; then come the full name, what the site shows of users, the status, the
grade, the maximum, whether the grade can be changed, and two times whose titles are one but for what is in
parentheses: of the submission and of the grade. A grade export (grade/export/lib.php) begins with both names, has an
e-mail address, and after it grades with "(what is shown)" behind each title. What is less sure is taken for neither.

What is not surely understood is not read: the same word is October in one language and November in another one.
"""

import calendar
import functools
import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime, timezone, tzinfo

from grader.classroom.roster.sheet import Person, Sheet

# userdate() in English: strftimedatetime, strftimedaydatetime, and its short forms.
FORMS = (
    "%A, %d %B %Y, %I:%M %p", "%d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p", "%B %d, %Y, %I:%M %p",
    "%A, %d %B %Y, %H:%M", "%d %B %Y, %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S%z",
)  # fmt: skip
# Whose names of months are read. A word that is one month here and another one there, as listopad, is not read at all.
LANGUAGES = (
    "en", "de", "de_AT", "fr", "es", "it", "pt", "ca", "gl", "nl", "sv", "da", "nb", "ro", "tr", "fi", "hu", "pl",
    "cs", "hr", "el", "ru", "uk",
)  # fmt: skip
CLOCK = re.compile(r"(?<!\d)(\d{1,2}):(\d{2})(?::(\d{2}))?(?!\d)")
HALVES = {"am": 0, "pm": 12}
NUMBERED = re.compile(r"(\D*?)\s*(\d+)")  # "Teilnehmer/in123"
BRACKETED = re.compile(r"(.*?)\s*[(（][^()（）]+[)）]\s*", re.S)
EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
NO_GRADE = ("", "-")
IDENTIFIER = re.compile(r"\D*?(\d+)")
MODULE = re.compile(r"(?:[^:]+: )?(.*?)(?: \([^()]*\))?", re.S)  # "Assignment: title (Real)"
SUBMITTED, GRADED = "Last modified (submission)", "Last modified (grade)"
MAXIMUM = ("Maximum Grade", "Maximum grade")
CHANGEABLE = "Grade can be changed"
NO = frozenset(
    ("no", "nein", "non", "nee", "não", "nej", "nei", "ei", "nem", "nu", "ne", "nie", "ez", "hayır", "нет", "ні", "όχι")
)


def parse_time(text: str, zone: tzinfo) -> datetime | None:
    """The time in a cell; None for any other text. zone: of the profile."""
    for form in FORMS:
        try:
            time = datetime.strptime(text, form)
        except ValueError:
            continue
        return time if time.tzinfo else time.replace(tzinfo=zone)
    return _in_words(unicodedata.normalize("NFC", text).casefold(), zone)


def foreign_titles(sheet: Sheet) -> dict[int, str]:
    """The English titles of the columns of a worksheet or an export, by index; {} where it is neither."""
    return (_worksheet(sheet) or _export(sheet)) if sheet.rows else {}


def is_worksheet(sheet: Sheet) -> bool:
    """Whether this is the grading worksheet of an assignment."""
    return None not in map(sheet.column, ("Identifier", "Grade", GRADED))


def is_export(sheet: Sheet) -> bool:
    """Whether this is the grade export of a course."""
    names = sheet.column("First name", "First name(s)"), sheet.column("Last name", "Surname")
    return None not in names and sheet.column("ID number", "Email address") is not None


def people_of_moodle(sheet: Sheet) -> dict[int, Person]:
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


def title_of_moodle(title: str) -> str:
    """The name of the activity in the title of an export's column: "Assignment: Softmax (Real)" → "Softmax"."""
    match = MODULE.fullmatch(title.strip())
    return match[1] if match else title.strip()


def handed_in(sheet: Sheet, row: int, zone: tzinfo) -> datetime | None:
    """When the student of this row handed in, as a worksheet says. zone: of the instructor's Moodle profile."""
    return parse_time(sheet.cell(row, sheet.column(SUBMITTED)), zone)


def unread_times(sheet: Sheet) -> list[str]:
    """The times of submissions in a worksheet that cannot be read."""
    texts = (sheet.cell(row, sheet.column(SUBMITTED)) for row in range(len(sheet.rows)))
    return [text for text in texts if text not in ("", "-") and parse_time(text, timezone.utc) is None]


def is_locked(sheet: Sheet, row: int) -> bool:
    """Whether Moodle would refuse a grade in this row of a worksheet."""
    return sheet.cell(row, sheet.column(CHANGEABLE)).casefold() in NO


def now() -> str:
    """The present time as strtotime reads it in every time zone."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S+00:00")


def _in_words(text: str, zone: tzinfo) -> datetime | None:
    """A day, a month's name and a year in any order, or year, month and day as numbers, and then the clock."""
    clock = CLOCK.search(text)
    if clock is None:
        return None
    day = text[: clock.start()]
    half = re.sub(r"[\W\d_]", "", text[clock.end() :])
    numbers = [int(number) for number in re.findall(r"\d+", day)]
    months = {_months()[word] for word in re.findall(r"[^\W\d_]+", day) if word in _months()}
    hour, minute, second = int(clock[1]), int(clock[2]), int(clock[3] or 0)
    if half and (half not in HALVES or not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + HALVES[half]
    years = [number for number in numbers if number >= 1000]
    try:
        if len(numbers) == 2 and len(years) == len(months) == 1:
            (date,), (month,) = set(numbers) - set(years), months
            return datetime(years[0], month, date, hour, minute, second, tzinfo=zone)
        if len(numbers) == 3 and years == numbers[:1] and not months:
            year, month, date = numbers
            return datetime(year, month, date, hour, minute, second, tzinfo=zone)
    except ValueError:
        pass
    return None


@functools.cache
def _months() -> dict[str, int]:
    """The numbers of the months by their names in full. Without babel (extra classroom) those in English alone."""
    try:
        from babel.dates import get_month_names
    except ImportError:
        return {name.casefold(): number for number, name in enumerate(calendar.month_name) if name}
    numbers: dict[str, set[int]] = {}
    for language in LANGUAGES:
        for context in ("format", "stand-alone"):
            for number, name in get_month_names("wide", context, language).items():
                numbers.setdefault(unicodedata.normalize("NFC", name).casefold(), set()).add(number)
    return {name: number for name, (number, *others) in numbers.items() if not others}


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
