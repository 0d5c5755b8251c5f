"""The facts that a folder of results keeps over the runs of a term: attempts, the last marks, overrides, what changed.

It stands in the same file as the results (see `store`), in tables of its own.
"""

import itertools
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from grader.classroom.grades import cell, csv_text, number
from grader.classroom.handins import Origin, Student, Unplaced
from grader.classroom.store import Store, decode_name, encode_name
from grader.classroom.summary import Run
from grader.records.submission import Submission

SCHEMA = """
create table if not exists attempts (
    number integer primary key, student text, exercise text, digest text, key text, seen text, handed_in text,
    platform text, origin_key text, entry text, late integer);
create index if not exists attempts_of on attempts (student, exercise);
create table if not exists kept (digest text primary key, submission blob) without rowid;
create table if not exists marks (
    student text, exercise text, points real, digest text, version text, given text,
    primary key (student, exercise)) without rowid;
create table if not exists runs (
    time text primary key, students integer, handed_in integer) without rowid;
create table if not exists progress (time text primary key, same integer, before real, after real) without rowid;
create table if not exists waiting (
    student text, name text, exercise text, why text, among text, primary key (student, exercise)) without rowid;
create table if not exists overrides (line text primary key, digest text, seen text) without rowid;
"""
CHANGES = "changes.csv"
CHANGE_TITLES = ("time", "student", "exercise", "from", "to", "why")
NEW, CHECKS, RULES, GONE = "new hand-in", "check changed", "rules of the course", "no mark any more"
WAITS, AGAIN = "waits to be graded again", "graded again"


@dataclass(frozen=True, slots=True)
class Kept:
    """One attempt as it is remembered. key: of its result in the store; handed_in None: nobody knows when."""

    student: str
    exercise: str
    digest: str
    key: str | None
    handed_in: datetime | None
    origin: Origin


@dataclass(frozen=True, slots=True)
class Given:
    """A mark as the last run gave it. given: the overrides in force, as text."""

    points: float | None
    digest: str
    version: str
    given: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A student's files that could not be placed. among: the exercises of that download, one of which they may be."""

    unplaced: Unplaced
    among: tuple[str, ...]


class History:
    """The tables of one folder of results."""

    def __init__(self, store: Store) -> None:
        self.file: sqlite3.Connection = store.file
        self.file.executescript(SCHEMA)

    # Attempts.

    def attempt(self, kept: Kept) -> None:
        """Remember a hand-in: a new attempt where it is not the student's last one, else what is known now.

        The same file that came again later is another attempt: the first one may have been in time. A clone's time is
        that of its latest commit, which may have changed other files, so there it is none.
        """
        query = "select number, digest, handed_in from attempts where student = ? and exercise = ? order by number desc"
        last_row = self.file.execute(f"{query} limit 1", (kept.student, kept.exercise)).fetchone()
        last_time = datetime.fromisoformat(last_row[2]) if last_row and last_row[2] else None
        is_later = last_time is not None and kept.handed_in is not None and kept.handed_in > last_time
        time = kept.handed_in.isoformat() if kept.handed_in else None
        origin = kept.origin
        facts = (kept.key, time, origin.platform, encode_name(origin.key), encode_name(origin.name), origin.late)
        if last_row and last_row[1] == kept.digest and (not is_later or kept.origin.clone):
            self.file.execute(
                "update attempts set key = ?, handed_in = coalesce(?, handed_in), platform = ?, origin_key = ?, "
                "entry = ?, late = ? where number = ?",
                (*facts, last_row[0]),
            )
            return
        self.file.execute(
            "insert into attempts (student, exercise, digest, seen, key, handed_in, platform, origin_key, entry, late) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (kept.student, kept.exercise, kept.digest, _now(), *facts),
        )

    def of(self, student: str) -> dict[str, list[Kept]]:
        """All attempts of a student, by exercise, in the order in which they came."""
        query = (
            "select student, exercise, digest, key, handed_in, platform, origin_key, entry, late from attempts "
            "where student = ? order by number"
        )
        by_exercise: dict[str, list[Kept]] = {}
        for row in self.file.execute(query, (student,)):
            by_exercise.setdefault(row[1], []).append(_kept(row))
        return by_exercise

    def entries(self) -> Iterator[tuple[str, str, str]]:
        """Each student with a key and the name of an entry with which something was handed in."""
        for student, key, name in self.file.execute("select distinct student, origin_key, entry from attempts"):
            yield student, decode_name(key), decode_name(name)

    def latest(self, student: str, exercise: str) -> Kept | None:
        """The last attempt of a student at an exercise."""
        query = (
            "select student, exercise, digest, key, handed_in, platform, origin_key, entry, late from attempts "
            "where student = ? and exercise = ? order by number desc limit 1"
        )
        row = self.file.execute(query, (student, exercise)).fetchone()
        return row and _kept(row)

    def earlier(self, exercises: Iterable[str]) -> Iterator[tuple[int, Kept]]:
        """All attempts at these exercises that are not the latest one of their student, by number."""
        query = (
            "select number, student, exercise, digest, key, handed_in, platform, origin_key, entry, late from attempts "
            "as a where exercise = ? and number < (select max(number) from attempts as b where b.student = a.student "
            "and b.exercise = a.exercise)"
        )
        for exercise in exercises:
            for attempt, *row in self.file.execute(query, (exercise,)).fetchall():
                yield attempt, _kept(row)

    def repeated(self) -> Iterator[tuple[str, str, list[tuple[datetime, str | None]]]]:
        """The students who tried an exercise more than once: student, exercise, and time and key of each attempt."""
        query = (
            "select student, exercise, coalesce(handed_in, seen), key from attempts where (student, exercise) in "
            "(select student, exercise from attempts group by student, exercise having count(*) > 1) "
            "order by student, exercise, number"
        )
        for (student, exercise), rows in itertools.groupby(self.file.execute(query).fetchall(), lambda row: row[:2]):
            yield student, exercise, [(datetime.fromisoformat(time), key) for *_, time, key in rows]

    def last_attempt(self) -> int:
        """The number of the latest attempt, 0 where there is none."""
        return self.file.execute("select coalesce(max(number), 0) from attempts").fetchone()[0]

    def recent(self, after: int = 0, since: datetime | None = None) -> set[tuple[str, str]]:
        """The students and exercises with an attempt that came later. after: its number; since: when it came at most.

        Where nobody knows when a hand-in came, the time of the run counts that saw it first.
        """
        query = "select student, exercise, coalesce(handed_in, seen) from attempts where number > ?"
        rows = self.file.execute(query, (after,))
        return {(who, what) for who, what, time in rows if since is None or datetime.fromisoformat(time) >= since}

    def rekey(self, number: int, key: str) -> None:
        """Note the key of the result of an attempt, after a check has changed."""
        self.file.execute("update attempts set key = ? where number = ?", (key, number))

    def keep(self, digest: str, submission: Submission) -> None:
        """Keep the text of a hand-in, so that it can be graded again when the download is gone."""
        if self.file.execute("select 1 from kept where digest = ?", (digest,)).fetchone():
            return
        text = json.dumps([submission.source, submission.filename, list(submission.notes)])
        packed = zlib.compress(text.encode("utf-8", "surrogatepass"))
        self.file.execute("insert or ignore into kept values (?, ?)", (digest, packed))

    def submission(self, digest: str) -> Submission | None:
        """A text that was kept."""
        row = self.file.execute("select submission from kept where digest = ?", (digest,)).fetchone()
        if row is None:
            return None
        source, filename, notes = json.loads(zlib.decompress(row[0]).decode("utf-8", "surrogatepass"))
        return Submission(source, filename, tuple(notes))

    # Marks of the last run.

    def marks(self, student: str | None = None, exercise: str | None = None) -> dict[tuple[str, str], Given]:
        """The marks of the last run, by student and exercise: all, or those of a student or an exercise."""
        chosen = {name: value for name, value in (("student", student), ("exercise", exercise)) if value is not None}
        where = " and ".join(["true", *(f"{name} = ?" for name in chosen)])
        query = f"select student, exercise, points, digest, version, given from marks where {where}"
        rows = self.file.execute(query, tuple(chosen.values()))
        return {(student, exercise): Given(*rest) for student, exercise, *rest in rows}

    def note(self, marks: Sequence[tuple[str, str, Given]]) -> None:
        """Remember the marks of this run."""
        self.file.execute("begin")
        self.file.execute("delete from marks")
        rows = ((student, exercise, m.points, m.digest, m.version, m.given) for student, exercise, m in marks)
        self.file.executemany("insert or replace into marks values (?, ?, ?, ?, ?, ?)", rows)
        self.file.execute("commit")

    # How the class stood after each run.

    def runs(self) -> list[Run]:
        """The runs after which the class stood otherwise than before, in order."""
        rows = self.file.execute(
            "select time, students, handed_in, coalesce(same, 0), coalesce(before, 0), coalesce(after, 0) "
            "from runs left join progress using (time) order by time"
        )
        return [Run(datetime.fromisoformat(time), *counts) for time, *counts in rows]

    def add_run(self, run: Run) -> None:
        """Remember how the class stands."""
        row = (run.time.isoformat(), run.students, run.handed_in)
        self.file.execute("insert or replace into runs (time, students, handed_in) values (?, ?, ?)", row)
        progress = (run.time.isoformat(), run.same, run.before, run.after)
        self.file.execute("insert or replace into progress values (?, ?, ?, ?)", progress)

    # Files that could not be placed, until something better comes.

    def waiting(self) -> list[Waiting]:
        """What the last run left open."""
        rows = self.file.execute("select student, name, exercise, why, among from waiting order by student, exercise")
        return [
            Waiting(Unplaced(Student(id, name), why, exercise=exercise), tuple(filter(None, among.split(","))))
            for id, name, exercise, why, among in rows
        ]

    def why_unplaced(self, student: str, exercise: str) -> str:
        """Why a file could not be placed, of this exercise or of an unknown one; "" where none waits."""
        reasons = {(one.unplaced.student.id, one.unplaced.exercise): one.unplaced.why for one in self.waiting()}
        return reasons.get((student, exercise)) or reasons.get((student, ""), "")

    def note_waiting(self, entries: Iterable[Waiting]) -> None:
        """Remember what this run leaves open."""
        rows = [
            (one.unplaced.student.id, one.unplaced.student.name, one.unplaced.exercise, one.unplaced.why,
             ",".join(one.among))
            for one in entries
        ]  # fmt: skip
        self.file.execute("begin")
        self.file.execute("delete from waiting")
        self.file.executemany("insert or replace into waiting values (?, ?, ?, ?, ?)", rows)
        self.file.execute("commit")

    # Overrides.

    def handin_of(self, line: str, digest: str) -> str:
        """The digest of the hand-in for which a line of overrides.csv was first seen: `digest` where that is now."""
        row = self.file.execute("select digest from overrides where line = ?", (line,)).fetchone()
        if row is None:
            self.file.execute("insert into overrides values (?, ?, ?)", (line, digest, _now()))
            return digest
        return row[0]


@dataclass(frozen=True)
class Change:
    """A mark that is another one now. before, after: points, None where there were or are none."""

    student: str
    exercise: str
    before: float | None
    after: float | None
    why: str


def changes_between(
    before: Mapping[tuple[str, str], Given], now: Mapping[tuple[str, str], Given]
) -> tuple[Change, ...]:
    """The marks that differ, in the order of students and exercises."""
    changes = []
    for student, exercise in sorted(before.keys() | now.keys()):
        old, new = before.get((student, exercise)), now.get((student, exercise))
        points = old.points if old else None, new.points if new else None
        if points[0] != points[1]:
            changes.append(Change(student, exercise, *points, _why(old, new)))
    return tuple(changes)


def append_changes(path: Path, changes: Iterable[Change]) -> None:
    """Add the changes of this run to the file. Raises OSError."""
    rows: list[Sequence[str]] = [] if path.exists() else [CHANGE_TITLES]
    time = datetime.now(timezone.utc).isoformat(timespec="seconds")
    for change in changes:
        points = number(change.before), number(change.after)
        rows.append([time, cell(change.student), change.exercise, *points, cell(change.why)])
    with path.open("a", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(csv_text(rows))


def _kept(row: Sequence) -> Kept:
    student, exercise, digest, key, handed_in, platform, origin_key, entry, late = row
    time = datetime.fromisoformat(handed_in) if handed_in else None
    return Kept(
        student, exercise, digest, key, time, Origin(platform, decode_name(origin_key), decode_name(entry), bool(late))
    )


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _why(old: Given | None, new: Given | None) -> str:
    """Why the points differ: the first of the reasons that applies."""
    if new is None or (new.points is None and not new.given):
        return WAITS if new and old and new.digest == old.digest else GONE
    if new.given != (old.given if old else ""):
        return f"override: {new.given}" if new.given else "override taken back"
    if old is None or old.digest != new.digest:
        return NEW
    if old.version != new.version:
        return CHECKS
    return AGAIN if old.points is None else RULES
