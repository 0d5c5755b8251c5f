"""Writes what a person sets by hand: overrides.csv, comments.csv, and office_log.csv, which says who did what and why.

Several people may write at once, from several processes: a lock lets one at a time read, compare and replace the files.
Whoever saves says by a stamp what they saw. Where that has changed meanwhile, nothing is written.

Read here too are requests for a second look: requests.csv and requests/<student>.md beside course.toml, or a column of
the roster.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from grader import catalog
from grader.catalog.errors import WrongUse
from grader.classroom import marking, private
from grader.classroom.grades import cell, number
from grader.classroom.handins import Student
from grader.classroom.history import History
from grader.classroom.marking import COMMENTS, OVERRIDE_TITLES, OVERRIDES, Override, guard, unguard
from grader.classroom.office import Office, find_student
from grader.classroom.roster import sheet
from grader.classroom.roster.sheet import Sheet
from grader.records import safe_files
from grader.records.sanitize import inert, label

LOCK, LOG = ".office.lock", "office_log.csv"
COMMENT_TITLES = ("student", "exercise", "comment", "who")
LOG_TITLES = ("time", "who", "student", "exercise", "what", "from", "to", "reason")
ANSWERED = "second look"  # what the log says of a request that was answered; "to" is its name
WAIT_S = 5.0  # for another person who is just saving
SAME_AGAIN = "write into the reason what you saw in the new hand-in, in other words than before"
REQUESTS, REQUESTS_FOLDER = "requests.csv", "requests"
REQUEST_COLUMNS = ("second look", "request")  # titles of the column that holds the text
WHO = ("student", "id", "email", "email address", "e-mail", "username", "login", "name", "full name")
WHAT = ("exercise", "assignment")
NUMBER = re.compile(r"\D*(\d{1,2})\b")  # "Exercise 03: context vectors"
MAX_TEXT = 20_000  # characters of one request


class Changed(Exception):
    """Since the form was shown, somebody else saved something for the same mark, or another hand-in counts."""


@dataclass(frozen=True)
class Entry:
    """What is set by hand for one student and exercise ("": all of the work). stamp: of it, and of the hand-in."""

    overrides: tuple[Override, ...]
    comment: str
    stamp: str


@dataclass(frozen=True)
class Wish:
    """What a person wants there, having seen what the stamp says.

    points: by check, "" for the exercise, as typed; handin: the digest of the one that counts now; again: the old
    points hold for it too; answers: the names of requests that are answered by this.
    """

    student: str
    exercise: str
    points: Mapping[str, str]
    comment: str
    reason: str
    who: str
    stamp: str
    handin: str = ""
    again: bool = False
    answers: Sequence[str] = ()


def read(folder: Path, student: str, exercise: str, handin: str = "") -> Entry:
    """What is set by hand now. handin: the digest of the one that counts. Raises WrongUse for an unreadable file."""
    overrides, comments = _table(folder / OVERRIDES, OVERRIDE_TITLES), _table(folder / COMMENTS, COMMENT_TITLES)
    own = [overrides.rows[row] for row in _rows(overrides, student, exercise)]
    spoken = [comments.rows[row] for row in _rows(comments, student, exercise)]
    column = comments.column("comment")
    text = "\n\n".join(unguard(comments.cell(row, column)) for row in _rows(comments, student, exercise))
    stamp = hashlib.sha256(json.dumps([own, spoken, handin]).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return Entry(marking.overrides_of(replace(overrides, rows=tuple(own))), text, stamp)


def save(folder: Path, wish: Wish) -> None:
    """Write what a person wants, with who and why. What did not change keeps its line.

    Raises Changed where something is not as it was seen, and WrongUse for what the rules of these files refuse.
    """
    who, reason = cell(wish.who.strip()), cell(wish.reason.strip())
    comment = inert(wish.comment.replace("\r\n", "\n").strip())
    if not who or not reason:
        raise WrongUse("say who you are, and why: both are kept with what you set")
    if len(comment) > marking.MAX_TEXT:
        raise WrongUse(f"a comment has at most {marking.MAX_TEXT:,} characters")
    with _alone(folder):
        entry = read(folder, wish.student, wish.exercise, wish.handin)
        if entry.stamp != wish.stamp:
            raise Changed
        old = {override.check: override for override in entry.overrides}
        new = {check: text for check, text in wish.points.items() if text.strip()}
        if "" in new and len(new) > 1:
            raise WrongUse("give points for the whole exercise or for its checks, not for both")
        if wish.again and any(one.reason == label(reason) and one.who == label(who) for one in entry.overrides):
            raise WrongUse(SAME_AGAIN)
        table = _table(folder / OVERRIDES, OVERRIDE_TITLES)
        lines, log = [], []
        for check in (*(check for check in old if check not in new), *new):
            before = shown_points(old[check]) if check in old else ""
            after = new.get(check, "").strip().replace(",", ".")
            kept = check in old and _is_same(before, after) and not wish.again
            if kept:
                lines.append(_line_of(table, wish, check))
                continue
            log.append([f"points of {check or 'the exercise'}", before, after])
            if after:
                facts = {"student": wish.student, "exercise": wish.exercise, "check": check, "points": after}
                lines.append(_row(table, {**facts, "reason": reason, "who": who}))
        others = _without(table, wish)
        table = replace(table, rows=(*others, *lines))
        marking.overrides_of(table)  # raises where a line is wrong
        if log:
            _replace(table)
        if comment != inert(entry.comment).strip():
            comments = _table(folder / COMMENTS, COMMENT_TITLES)
            facts = {"student": wish.student, "exercise": wish.exercise, "comment": guard(comment), "who": who}
            own = (_row(comments, facts),) if comment else ()
            _replace(replace(comments, rows=(*_without(comments, wish), *own)))
            log.append(["comment", entry.comment, comment])
        log += [[ANSWERED, "", name] for name in wish.answers]
        if not log:
            raise WrongUse("nothing was changed: set points, write a comment, or answer a request")
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        _append(folder / LOG, [[now, who, wish.student, wish.exercise, *map(cell, what), reason] for what in log])


def shown_points(override: Override) -> str:
    """The points of an override as the form shows them."""
    most = catalog.read(override.exercise).points
    return number(most[override.check] if override.points is None else override.points)


def answered(folder: Path) -> set[str]:
    """The names of the requests that somebody has answered."""
    return {name for what, name in _table(folder / LOG, LOG_TITLES).cells("what", "to") if what == ANSWERED}


def log(folder: Path, student: str, exercise: str | None = None) -> list[dict[str, str]]:
    """What people did for a student, the latest first."""
    rows = [dict(zip(LOG_TITLES, texts)) for texts in _table(folder / LOG, LOG_TITLES).cells(*LOG_TITLES)]
    return [row for row in reversed(rows) if row["student"] == student and exercise in (None, row["exercise"])]


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """A context in which no other process saves. Raises WrongUse where another one does not end."""
    try:
        descriptor = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), private.FILE)
    except OSError as error:
        raise WrongUse(f"{folder} cannot be written: {error.strerror}") from None
    try:
        end = time.monotonic() + WAIT_S
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise WrongUse("somebody else is saving right now, and does not end. Save again") from None
                time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)  # which ends the lock


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


def read_requests(office: Office, students: Iterable[Student], history: History) -> list[Request]:
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


def _table(path: Path, titles: Sequence[str]) -> Sheet:
    """The file, with all columns that we write; an empty table where there is none."""
    if not path.exists() or not path.stat().st_size:
        return Sheet(path, tuple(titles), ())
    table = sheet.read_sheet(path)
    return replace(table, header=(*table.header, *(title for title in titles if table.column(title) is None)))


def _rows(table: Sheet, student: str, exercise: str) -> list[int]:
    """The lines about this student and exercise."""
    who, what = table.column("student"), table.column("exercise")
    mine = (row for row in range(len(table.rows)) if table.cell(row, who) == student)
    return [row for row in mine if _folder(table.cell(row, what)) == exercise]


def _folder(text: str) -> str:
    """The exercise that a cell names; what names none as it is."""
    try:
        return catalog.find(text).folder if text else ""
    except catalog.NoSuchExercise:
        return text


def _without(table: Sheet, wish: Wish) -> tuple[tuple[str, ...], ...]:
    own = set(_rows(table, wish.student, wish.exercise))
    return tuple(cells for row, cells in enumerate(table.rows) if row not in own)


def _line_of(table: Sheet, wish: Wish, check: str) -> tuple[str, ...]:
    """The line of an override, as it is in the file."""
    column = table.column("check")
    rows = _rows(table, wish.student, wish.exercise)
    return next(table.rows[row] for row in rows if table.cell(row, column) == check)


def _row(table: Sheet, facts: Mapping[str, str]) -> tuple[str, ...]:
    """A new line, with the columns in the order of the file."""
    return tuple(facts.get(title.casefold(), "") for title in table.titles)


def _is_same(before: str, after: str) -> bool:
    """Whether two texts are the same number."""
    with contextlib.suppress(ValueError):
        return float(before) == float(after)
    return before == after


def _replace(table: Sheet) -> None:
    """Write a table whole. Raises WrongUse."""
    path = table.path.resolve()
    try:
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else private.FILE
        safe_files.write_whole(path, table.fill({}), mode=mode, durable=True)
    except OSError as error:
        to_do = "Load the page again, to see what is saved"
        raise WrongUse(f"{table.path} cannot be written: {error.strerror}. {to_do}") from None


def _append(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """Add lines to the log. Raises WrongUse."""
    try:
        private.append(path, LOG_TITLES, rows, errors="backslashreplace")
    except OSError as error:
        raise WrongUse(f"what you set is saved, but {path} cannot be written: {error.strerror}") from None


def _entries(office: Office) -> Iterator[tuple[str, str, str]]:
    """Who asks about which exercise, and what: as it is written."""
    folder = office.folder or Path()
    if (folder / REQUESTS).exists():
        table = sheet.read_sheet(folder / REQUESTS)
        who, text = table.column(*WHO), table.column(*REQUEST_COLUMNS)
        if who is None or text is None:
            raise WrongUse(
                f"{folder / REQUESTS} needs the columns student, exercise, request; exercise may be left out"
            )
        for row in range(len(table.rows)):
            if table.cell(row, text):
                yield table.cell(row, who), table.cell(row, table.column(*WHAT)), table.cell(row, text)
    for student, words in marking.texts_of_students(folder / REQUESTS_FOLDER):
        yield student, "", words[:MAX_TEXT]
    for listing in office.roster.listings if office.roster else ():
        for row, person in listing.people.items():
            if asked := _cell(listing.sheet, row):
                yield person.id, listing.exercise or "", asked


def _cell(table: Sheet, row: int) -> str:
    return table.cell(row, table.column(*REQUEST_COLUMNS))


def _exercise(text: str) -> str:
    """The exercise that a cell names; "" where it names none."""
    number = NUMBER.match(text)
    for word in (text, number[1] if number else ""):
        try:
            return catalog.find(word).folder if word else ""
        except catalog.NoSuchExercise:
            continue
    return ""
