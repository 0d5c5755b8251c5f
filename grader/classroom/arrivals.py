"""When a hand-in came, as its platform says. What a student could have written is taken from no other place.

In turn: handed_in.csv of the instructor; Moodle's grading worksheet; the list in Gradescope's export; nbgrader's
timestamp.txt in submitted/; the commit time of a clone, which is the time of the student's own clock.

Git runs what a repository's own configuration names, so it is never started in a clone: the commit is read by an empty
repository of ours that borrows the clone's objects.
"""

import functools
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from datetime import datetime, timezone, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grader import catalog
from grader.catalog.errors import BadSubmission, NoSuchFile, WrongUse
from grader.classroom.handins import HandIn
from grader.classroom.intake import beneath
from grader.classroom.roster import moodle, sheet
from grader.classroom.roster.sheet import Roster
from grader.records.sanitize import label

MAX_REF, MAX_PACKED = 4096, 4 << 20  # bytes of HEAD and a reference, and of the list of packed references
SECONDS = 10
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
COMMITTER = re.compile(rb"^committer [^\n]* (\d{1,12}) [+-]\d{4}$", re.M)
HANDED_IN, COLUMNS = "handed_in.csv", ("student", "exercise", "time")
TIMESTAMP, MAX_TIMESTAMP = "timestamp.txt", 200  # bytes
FORMS = ("%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S")
Times = Mapping[tuple[str, str], datetime]  # (student's id, exercise) → time
Clock = Callable[[HandIn], datetime | None]


def commit_time(clone: str) -> datetime | None:
    """When the latest commit of a clone was made, by the clock of who made it; None where that cannot be read.

    clone: the place of its folder, as `beneath` writes it.
    """
    try:
        commit = _head(clone)
        return _time(clone, commit) if commit else None
    except (BadSubmission, NoSuchFile, UnicodeDecodeError, OSError, subprocess.SubprocessError, OverflowError):
        return None


@functools.cache
def _empty() -> tempfile.TemporaryDirectory:
    """An empty bare repository, for as long as this process lives."""
    folder = tempfile.TemporaryDirectory(prefix="kata-git-")
    subprocess.run(
        ["git", "init", "--quiet", "--bare", "--template=", folder.name], check=True, timeout=SECONDS,
        capture_output=True,
    )  # fmt: skip
    return folder


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
        return commit_time(origin.clone) if origin.clone else None

    return time_of


def read_handed_in(path: Path, zone: tzinfo) -> Times:
    """handed_in.csv: the columns student, exercise, time. Raises WrongUse with the line that is wrong."""
    if not path.exists():
        return {}
    table = sheet.read_sheet(path)
    if None in map(table.column, COLUMNS):
        raise WrongUse(f"{label(str(path))} needs the columns student, exercise, time")
    times = {}
    for line, (student, exercise, text) in enumerate(table.cells(*COLUMNS), 2):
        if not student:
            continue
        try:
            time = datetime.fromisoformat(text)
            times[student, catalog.find(exercise).folder] = time if time.tzinfo else time.replace(tzinfo=zone)
        except ValueError:
            raise WrongUse(f"{label(str(path))}, line {line}: write the time as 2026-11-20 23:59") from None
        except catalog.NoSuchExercise as error:
            raise WrongUse(f"{label(str(path))}, line {line}: {error}") from None
    return times


def parse_time(text: str) -> datetime | None:
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


def _head(clone: str) -> str | None:
    """The name of the commit that HEAD stands for."""
    text = beneath.read(f"{clone}/.git/HEAD", MAX_REF).decode().strip()
    if text.startswith("ref: "):
        name = text.removeprefix("ref: ").strip()
        if not re.fullmatch(r"refs/[\w./-]+", name) or ".." in name:
            return None
        try:
            text = beneath.read(f"{clone}/.git/{name}", MAX_REF).decode().strip()
        except NoSuchFile:
            packed = beneath.read(f"{clone}/.git/packed-refs", MAX_PACKED).decode()
            text = next((line.split(" ")[0] for line in packed.splitlines() if line.endswith(f" {name}")), "")
    return text if COMMIT.fullmatch(text) else None


def _time(clone: str, commit: str) -> datetime | None:
    """The committer's time of a commit."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = f"{clone}/.git/objects"
    command = ["git", f"--git-dir={_empty().name}", "cat-file", "commit", commit]
    process = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
    )
    committer = COMMITTER.search(process.stdout.partition(b"\n\n")[0])
    return datetime.fromtimestamp(int(committer[1]), timezone.utc) if process.returncode == 0 and committer else None


def _timestamp(place: str) -> datetime | None:
    """The time that nbgrader wrote beside a submitted notebook."""
    folder, _, _ = place.rpartition("/")
    try:
        return parse_time(beneath.read(f"{folder}/{TIMESTAMP}", MAX_TIMESTAMP).decode())
    except (BadSubmission, NoSuchFile, UnicodeDecodeError):
        return None


def _worksheets(roster: Roster, zone: tzinfo) -> dict[tuple[str, str], datetime]:
    """The times in Moodle's worksheets, by the number in the name of the file, which belongs to one assignment."""
    times: dict[tuple[str, str], datetime] = {}
    for listing in roster.listings:
        if listing.kind == "worksheet":
            for row, person in listing.people.items():
                time = moodle.handed_in(listing.sheet, row, zone)
                times |= {("Moodle", number): time for number in person.numbers if time}
    return times
