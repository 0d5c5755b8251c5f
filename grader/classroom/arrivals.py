"""When a hand-in came, as its platform says. What a student could have written is taken from no other place.

In turn: handed_in.csv of the instructor; Moodle's grading worksheet; the list in Gradescope's export; nbgrader's
timestamp.txt in submitted/; the commit time of a clone, which is the time of the student's own clock.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timezone, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grader import catalog
from grader.catalog.errors import BadSubmission, NoSuchFile, WrongUse
from grader.classroom.clones import committed
from grader.classroom.handins import HandIn
from grader.classroom.intake import beneath
from grader.classroom.roster import moodle_files, sheet
from grader.classroom.roster.people import Roster
from grader.records.sanitize import label

NAME = "handed_in.csv"
TIMESTAMP, MAX_TIMESTAMP = "timestamp.txt", 200  # bytes
FORMS = ("%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S")

Times = Mapping[tuple[str, str], datetime]  # (student's id, exercise) → time
Clock = Callable[[HandIn], datetime | None]


def clock(written_times: Times, roster: Roster | None, zone: tzinfo) -> Clock:
    """A function that gives the time of a hand-in, or None where nobody knows it. written_times: see `read`."""
    numbers = _worksheets(roster, zone) if roster else {}

    def time_of(handin: HandIn) -> datetime | None:
        """The time of one hand-in."""
        origin = handin.origin
        written_time = written_times.get((handin.student.id, handin.exercise))
        if time := written_time or numbers.get((origin.platform, origin.key)) or origin.time:
            return time
        if origin.platform == "nbgrader" and not handin.member:
            return _timestamp(handin.place)
        return committed(origin.clone) if origin.clone else None

    return time_of


def read(path: Path, zone: tzinfo) -> Times:
    """handed_in.csv: the columns student, exercise, time. Raises WrongUse with the line that is wrong."""
    if not path.exists():
        return {}
    table = sheet.read(path)
    columns = [table.column(title) for title in ("student", "exercise", "time")]
    if None in columns:
        raise WrongUse(f"{label(str(path))} needs the columns student, exercise, time")
    times = {}
    for row in range(len(table.rows)):
        student, exercise, text = (table.cell(row, column) for column in columns)
        if not student:
            continue
        try:
            time = datetime.fromisoformat(text)
            times[student, catalog.find(exercise).folder] = time if time.tzinfo else time.replace(tzinfo=zone)
        except ValueError:
            raise WrongUse(f"{label(str(path))}, line {row + 2}: write the time as 2026-11-20 23:59") from None
        except catalog.NoSuchExercise as error:
            raise WrongUse(f"{label(str(path))}, line {row + 2}: {error}") from None
    return times


def parsed(text: str) -> datetime | None:
    """The time in nbgrader's timestamp.txt, as "2015-02-02 15:58:23.948203 UTC"; None for other text."""
    words = text.split()
    try:
        if len(words) == 2:
            words.append("UTC")
        day, clock_time, name = words
        zone = timezone.utc if name in ("UTC", "+0000") else ZoneInfo(name)
    except (ValueError, ZoneInfoNotFoundError, OSError):
        return None
    for form in FORMS:
        try:
            return datetime.strptime(f"{day} {clock_time}", form).replace(tzinfo=zone)
        except ValueError:
            continue
    return None


def _timestamp(place: str) -> datetime | None:
    """The time that nbgrader wrote beside a submitted notebook."""
    folder, _, _ = place.rpartition("/")
    try:
        return parsed(beneath.read(f"{folder}/{TIMESTAMP}", MAX_TIMESTAMP).decode())
    except (BadSubmission, NoSuchFile, UnicodeDecodeError):
        return None


def _worksheets(roster: Roster, zone: tzinfo) -> dict[tuple[str, str], datetime]:
    """The times in Moodle's worksheets, by the number in the name of the file, which belongs to one assignment."""
    times = {}
    for listing in roster.listings:
        if listing.kind == "worksheet":
            for row, person in listing.people.items():
                time = moodle_files.handed_in(listing.sheet, row, zone)
                times |= {("Moodle", number): time for number in person.numbers if time}
    return times
