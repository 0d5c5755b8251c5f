"""Fills points into a platform's own file: Canvas' gradebook, Moodle's worksheet, any CSV file with ids.

The columns and their order stay. An existing score is never replaced by an empty cell.

Canvas takes an *empty* cell over a score for a change, and deletes the score; "EX" and "N/A" are its words for excused.
Moodle leaves out each row whose "Last modified (grade)" is older than its own, so a row that gets points gets the
present time too (mod/assign/feedback/offline/locallib.php).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

from grader import catalog
from grader.catalog import NoSuchExercise
from grader.catalog.errors import WrongUse
from grader.classroom.grades import number
from grader.classroom.intake.names import exercise_of_download, exercise_of_title
from grader.classroom.marks import LEFT_OUT, NOTHING, count_in_words, listed
from grader.classroom.sheet import Sheet, read_sheet
from grader.classroom.students import KINDS, Matcher, people_of
from grader.records.sanitize import label

COLUMNS = ("student", "exercise", "points", "status")  # of marks.csv that are read
UNTOUCHED = ("EX", "N/A")
GRADE, MODIFIED, CHANGEABLE = "Grade", "Last modified (grade)", "Grade can be changed"
MAXIMUM = ("Maximum Grade", "Maximum grade")
TITLE = re.compile(r"(.*\S)\s*\(\d+\)", re.S)  # Canvas' "03 Context vectors (12345)"
MODULE = re.compile(r"(?:[^:]+: )?(.*?)(?: \([^()]*\))?", re.S)  # Moodle's "Assignment: title (Real)"
MOST_NAMED = 8


class Marks(NamedTuple):
    """The marks of some files. points: by student's id, then by exercise; names: by id; waiting: hand-ins without."""

    points: Mapping[str, Mapping[str, float]]
    names: Mapping[str, str]
    waiting: int


class Filled(NamedTuple):
    """A file with the points in it. lines: what the instructor reads; missing: who has points but no row."""

    text: str
    lines: tuple[str, ...]
    missing: tuple[str, ...]


def read_marks(paths: Sequence[Path]) -> Marks:
    """The marks in files called marks.csv. Raises WrongUse for a file without their columns."""
    points: defaultdict[str, dict[str, float]] = defaultdict(dict)
    names: dict[str, str] = {}
    waiting = 0
    for path in paths:
        sheet = read_sheet(path)
        if None in map(sheet.column, COLUMNS):  # nbgrader's export holds 0.0, too, for what could not be graded
            raise WrongUse(f"{label(str(path))} holds no marks: name the marks.csv of results")
        for row in range(len(sheet.rows)):
            id, exercise, given, state = (sheet.cell(row, sheet.column(title)) for title in COLUMNS)
            if not given:
                waiting += state not in (NOTHING, LEFT_OUT)
                continue
            try:
                points[id][catalog.find(exercise).folder] = float(given)
            except (NoSuchExercise, ValueError) as error:
                raise WrongUse(f"{label(str(path))}, line {row + 2}: {label(str(error))}") from None
            names[id] = sheet.cell(row, sheet.column("name"))
    return Marks(points, names, waiting)


def fill(path: Path, marks: Marks, columns: Mapping[str, str]) -> Filled:
    """The file with the points in it. columns: titles by "id", …, or by exercises ("01,02": their sum).

    Raises WrongUse if no column belongs to an exercise, or the file names no students.
    """
    sheet = read_sheet(path)
    people = people_of(sheet, {kind: title for kind, title in columns.items() if kind in KINDS})
    holds = columns_of(sheet, marks, columns)
    matcher, missing, id_of = Matcher(people), [], {person.row: "" for person in people}
    for id in marks.points:
        rows = [person.row for person in matcher.find(id, name=marks.names[id])]
        if len(rows) != 1:
            missing.append(f"{marks.names[id]} ({id})" if marks.names[id] not in ("", id) else id)
        elif id_of[rows[0]]:
            raise WrongUse(
                f"{label(path.name)} has one row for {label(f'{id_of[rows[0]]} and {id}')}. Nothing was written"
            )
        else:
            id_of[rows[0]] = id
    points_of = {row: marks.points.get(id, {}) for row, id in id_of.items()}
    cells: dict[tuple[int, int], str] = {}
    lines = [line for at in holds for line in _fill_column(sheet, at, holds[at], points_of, cells)]
    return Filled(sheet.fill(cells), tuple(lines), tuple(missing))


def columns_of(sheet: Sheet, marks: Marks, columns: Mapping[str, str]) -> dict[int, tuple[str, ...]]:
    """The columns that get points, each with its exercises. Raises WrongUse if there is none."""
    graded = sorted({exercise for points in marks.points.values() for exercise in points})
    holds: dict[int, tuple[str, ...]] = {}
    for exercises, title in columns.items():
        if exercises not in KINDS:
            at = sheet.column(title)
            if at is None:
                raise WrongUse(f"There is no column {label(title)}. There are: {label(', '.join(sheet.header))}")
            holds[at] = tuple(catalog.find(name).folder for name in exercises.split(","))
    if holds:
        return holds
    grade = sheet.column(GRADE)
    if sheet.column(MODIFIED) is not None and grade is not None:  # Moodle's worksheet is of one assignment
        named = exercise_of_download(sheet.path.stem)
        if named in graded or len(graded) == 1:
            return {grade: (str(named) if named in graded else graded[0],)}
        raise WrongUse(f"Of which exercises is {label(sheet.path.name)}? Say: --column 03=Grade, or 03,04 for a sum")
    for at, title in enumerate(sheet.header):
        plain = [match[1] for form in (TITLE, MODULE) if (match := form.fullmatch(title.strip()))]
        found = next(filter(None, map(exercise_of_title, (title, *plain))), None)
        if found in graded:
            holds[at] = (str(found),)
    if not holds:
        wanted = listed([f"{one[:2]} {catalog.find(one).title}" for one in graded], MOST_NAMED)
        raise WrongUse(
            f"No column of {label(sheet.path.name)} is called like an exercise with marks ({wanted}). "
            'Say which it is: --column 03="Title of the column"'
        )
    return holds


def _fill_column(
    sheet: Sheet,
    column: int,
    exercises: Sequence[str],
    points_of: Mapping[int, Mapping[str, float]],
    cells: dict[tuple[int, int], str],
) -> Iterator[str]:
    """Add the cells of a column, by row and column. Yields lines about it. points_of: by row and exercise."""
    modified, changeable = sheet.column(MODIFIED), sheet.column(CHANGEABLE)
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S+00:00")  # in a form that PHP's strtotime reads
    outcomes: Counter[str] = Counter()
    for row, points in points_of.items():
        own = [points[one] for one in exercises if one in points]
        before = sheet.cell(row, column)
        if before in UNTOUCHED or sheet.cell(row, changeable).casefold() == "no":
            outcomes["excused or locked, kept"] += 1
        elif not own:
            outcomes["without points here, kept" if before not in ("", "-") else "without points"] += 1
        else:
            cells[row, column] = number(sum(own))
            outcomes["filled"] += 1
            if modified is not None:
                cells[row, modified] = now
    told = ", ".join(f"{count} {words}" for words, count in sorted(outcomes.items()))
    yield f"{label(sheet.header[column])} ← {', '.join(exercises)}: {told}"
    most = sum(catalog.find(one).max_points for one in exercises)
    if (possible := _possible(sheet, column)) is not None and possible != most:
        yield f"  it has {number(possible)} points there, and {number(most)} here: set {number(most)} there"


def _possible(sheet: Sheet, column: int) -> float | None:
    """The points possible in a column, as Canvas and Moodle write them; None if they do not say."""
    at = sheet.column(*MAXIMUM)
    rows = (row for row in range(len(sheet.rows)) if "points possible" in sheet.cell(row, 0).casefold())
    text = sheet.cell(0, at) if at is not None and sheet.rows else next((sheet.cell(row, column) for row in rows), "")
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def describe(marks: Marks) -> str:
    waiting = f"; {count_in_words(marks.waiting, 'hand-in')} without a mark" if marks.waiting else ""
    count = sum(map(len, marks.points.values()))
    return f"{count_in_words(count, 'mark')} of {count_in_words(len(marks.names), 'student')}{waiting}."
