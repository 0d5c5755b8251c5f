"""The results of a class on disk, in one SQLite file. Each result is written at once, as a whole or not at all.

The key of a result is made from all that it depends on: the submission's bytes, the exercise's version, the seed and
the device. So a run that was stopped continues where it was, and what has changed is graded again. The seeds are
secrets: only this file holds them, and only its owner can read it. One process writes the file; after kill −9 it holds
every result that was written.
"""

import contextlib
import hashlib
import json
import os
import random
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader.catalog.errors import InfrastructureError, WrongUse
from grader.classroom import private
from grader.classroom.handins import HandIn, Student
from grader.judge.pictures import Picture
from grader.records.results import ExerciseResult
from grader.records.submission import Submission
from grader.reports import json as as_json

NO_ROOM = {
    "database or disk is full": "the disk is full",
    "disk I/O error": "the disk reports an error",
}  # SQLite's words
WAIT_S = 3.0  # for a writer that is about to end
PAUSE_S = 0.02  # the longest pause between two tries
NAME = ".grading.sqlite"
SCHEMA = """
create table if not exists facts (name text primary key, value text) without rowid;
create table if not exists seeds (number integer primary key, mark text unique, seed text);
create table if not exists results (key text primary key, record text) without rowid;
create table if not exists versions (key text primary key, version text) without rowid;
create table if not exists handins (
    student text, name text, exercise text, place text, member text, key text, trouble text,
    primary key (student, exercise)) without rowid;
create table if not exists students (student text primary key, name text) without rowid;
"""


class Database(sqlite3.Connection):
    """A connection that says in words where nothing more can be written. Raises InfrastructureError then."""

    path: Path

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        """As the connection's own."""
        with self._reasons():
            return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        """As the connection's own."""
        with self._reasons():
            return super().executemany(*arguments)

    def executescript(self, script: str) -> sqlite3.Cursor:
        """As the connection's own."""
        with self._reasons():
            return super().executescript(script)

    @contextlib.contextmanager
    def _reasons(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            reason = NO_ROOM.get(str(error))
            if reason is None:
                raise
            raise InfrastructureError(
                f"{self.path} cannot be written: {reason}. What it holds is kept: make room, and type the same command"
            ) from None


def open_database(path: Path, schema: str) -> Database:
    """The file with these tables, for its owner alone. It and its folder are made where they are missing.

    schema: the SQL statements that create the tables. Raises WrongUse where the file cannot be used.
    """
    folder = path.parent
    try:
        folder.mkdir(mode=private.OWNER, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDONLY, 0o600))
        with contextlib.suppress(OSError):  # some drives have no modes
            path.chmod(0o600)  # SQLite gives the same mode to the files beside it
        return _wait_and_lock(path, schema)
    except OSError as error:
        raise WrongUse(f"{folder} cannot be used: {error.strerror}. Name another folder: OUT=…") from None
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise WrongUse(f"another run is writing into {folder}. Wait for it, or name another: OUT=…") from None
        raise WrongUse(f"{path} cannot be used: {error}. Name another folder: OUT=…") from None
    except sqlite3.DatabaseError:
        raise WrongUse(f"{path} is damaged. Move it away: all will be graded again") from None


def encode_name(name: str) -> str | bytes:
    """A file's name as SQLite can store it: as bytes where it is not UTF-8."""
    try:
        return name.encode() and name
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogatepass")


def decode_name(name: str | bytes) -> str:
    """The file's name that was encoded."""
    return name if isinstance(name, str) else name.decode("utf-8", "surrogatepass")


def case(submission: Submission, version: str, device: str, more: str = "") -> str:
    """A digest of all that a result depends on besides the seed. more: further settings."""
    return digest(json.dumps([submission.digest, submission.filename, submission.notes, version, device, more]))


def key(case: str, seed: int) -> str:
    """The key of the result for a case whose fresh inputs are drawn with this seed."""
    return f"{case}.{mark(seed)}"


def digest(text: str) -> str:
    """A short hash of a text: 32 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def mark(seed: int) -> str:
    """A hash of a seed, from which the seed cannot be read in practice: keys may be shown, seeds may not."""
    return digest(f"seed {seed}")[:16]


def write(result: ExerciseResult) -> str:
    """A result as text for the store. The sandbox is the same for all results, so the store holds it once."""
    record = as_json.record(result)
    sandbox = record.pop("sandbox", None) or {}
    record["tier"] = sandbox.get("tier")
    return json.dumps({"result": record, "pictures": [asdict(picture) for picture in result.pictures]})


def read(text: str, sandbox: dict[str, Any] | None = None) -> ExerciseResult:
    """The result from which `write` made the text. sandbox: that of the run, which is not in the text."""
    stored = json.loads(text)
    record = stored["result"]
    if sandbox:
        record["sandbox"] = sandbox
    fields = [{name: _frozen(value) for name, value in picture.items()} for picture in stored["pictures"]]
    return as_json.read(record, tuple(Picture(**picture) for picture in fields))


class Store:
    """The file of one folder of results. Raises WrongUse where it cannot be used."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.file = open_database(self.path, SCHEMA)

    @classmethod
    def existing(cls, folder: Path) -> "Store":
        """The file of a folder that holds results. Raises WrongUse where it holds none."""
        if not (folder / NAME).exists():
            raise WrongUse(f"{folder} holds no results. Grade first: make grade SUBMISSIONS=… OUT={folder}")
        return cls(folder)

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    # Facts of the run: its settings, the sandbox.

    def fact(self, name: str, default: Any = None) -> Any:
        """A fact of the run that `note` wrote, as plain data."""
        row = self.file.execute("select value from facts where name = ?", (name,)).fetchone()
        return default if row is None else json.loads(row[0])

    def note(self, name: str, value: Any) -> None:
        """Write a fact of the run. value: plain data that JSON can hold."""
        self.file.execute("insert or replace into facts values (?, ?)", (name, json.dumps(value)))

    # Seeds. A run uses one seed until its results are published: see `finish`.

    def begin(self, seed: int) -> None:
        """Note that the results of the run are made with this seed."""
        self.file.execute("insert or replace into seeds (mark, seed) values (?, ?)", (mark(seed), str(seed)))
        self.note("unfinished", seed)

    def finish(self) -> None:
        """Note that the results are about to be published, so that later gradings get another seed."""
        self.note("unfinished", None)

    @property
    def unfinished(self) -> int | None:
        """The seed of a run that was stopped before its results were published."""
        return self.fact("unfinished")

    def seed(self, key: str) -> int | None:
        """The seed of the result with this key, whether or not the result is already there."""
        row = self.file.execute("select seed from seeds where mark = ?", (key.partition(".")[2],)).fetchone()
        return row and int(row[0])

    # Results.

    def latest_key(self, case: str) -> str | None:
        """The key of the latest result for a case, whatever its seed."""
        query = "select key from seeds join results on key = ? || '.' || mark order by number desc limit 1"
        row = self.file.execute(query, (case,)).fetchone()
        return row and row[0]

    def has(self, key: str) -> bool:
        """Whether there is a result with this key."""
        return self.file.execute("select 1 from results where key = ?", (key,)).fetchone() is not None

    def result(self, key: str) -> ExerciseResult | None:
        """The result with this key, without the sandbox of the run."""
        row = self.file.execute("select record from results where key = ?", (key,)).fetchone()
        return row and read(row[0])

    def version(self, key: str) -> str | None:
        """The version of the exercise with which the result with this key was made; None where nobody knows it."""
        row = self.file.execute("select version from versions where key = ?", (key,)).fetchone()
        return row and row[0]

    def add(self, key: str, record: str, version: str = "") -> None:
        """Store a result, as `write` made it. A result that is there already stays.

        version: of the exercise. Raises InfrastructureError where the disk is full.
        """
        self.file.execute("insert or replace into versions values (?, ?)", (key, version))
        self.file.execute("insert or ignore into results values (?, ?)", (key, record))

    # The hand-ins of the latest run.

    @contextlib.contextmanager
    def roll(self, exercises: Iterable[str], gone: Iterable[str] = ()) -> Iterator[None]:
        """A context in which all hand-ins for these exercises are entered again. All are replaced at once at its end.

        gone: the students who leave the class, with all their hand-ins. All others keep their row.
        """
        self.file.execute("begin")
        try:
            self.file.executemany("delete from handins where exercise = ?", [(folder,) for folder in exercises])
            for table in ("handins", "students"):
                self.file.executemany(f"delete from {table} where student = ?", [(student,) for student in gone])
            yield
        except BaseException:
            if self.file.in_transaction:  # on a full disk it is over
                self.file.execute("rollback")
            raise
        self.file.execute("commit")

    def enrol(self, student: Student) -> None:
        """Add a student. Who is there with the same id gets this name."""
        self.file.execute("insert or replace into students values (?, ?)", (student.id, student.name))

    def rolled(self) -> dict[Student, tuple[str, ...]]:
        """Everybody in the class, with the exercises that they handed in."""
        query = (
            "select student, students.name, group_concat(exercise) from students left join handins using (student) "
            "group by student order by student"
        )
        rows = self.file.execute(query)
        return {Student(id, name): tuple(map(sys.intern, (all or "").split(","))) * bool(all) for id, name, all in rows}

    def enter(self, handin: HandIn, key: str | None, trouble: str = "") -> None:
        """Add a hand-in with the key of its result. key None: it cannot be graded now; `trouble` says why."""
        place = encode_name(handin.place), encode_name(handin.member)
        row = (handin.student.id, handin.student.name, handin.exercise, *place, key, trouble)
        self.file.execute("insert or replace into handins values (?, ?, ?, ?, ?, ?, ?)", row)

    def troubles(self) -> dict[tuple[str, str], str]:
        """The hand-ins that could not be graded: (student's id, exercise) → the reason."""
        query = "select student, exercise, trouble from handins where trouble != ''"
        return {(student, exercise): trouble for student, exercise, trouble in self.file.execute(query)}

    def trouble(self, key: str, reason: str) -> None:
        """Note why the hand-ins with this key could not be graded."""
        self.file.execute("update handins set trouble = ? where key = ?", (reason, key))

    def handin(self, student: str, exercise: str) -> tuple[HandIn, str | None] | None:
        """The hand-in of a student for an exercise, and the key of its result; None where there is none."""
        query = "select student, name, exercise, place, member, key from handins where student = ? and exercise = ?"
        row = self.file.execute(query, (student, exercise)).fetchone()
        return row and (_handin(row), row[5])

    def entered(self) -> Iterator[HandIn]:
        """All hand-ins that count, of every run."""
        query = "select student, name, exercise, place, member from handins order by student, exercise"
        yield from map(_handin, self.file.execute(query))

    def outdated(self, exercise: str, version: str) -> list[tuple[HandIn, str, str | None]]:
        """The hand-ins for an exercise without a result of this version, each with its key and the result's version."""
        query = (
            "select student, name, exercise, place, member, key, version from handins left join versions using (key) "
            "where exercise = ? and key is not null and (version is not ? or trouble != '') order by student"
        )
        rows = self.file.execute(query, (exercise, version)).fetchall()
        return [(_handin(row), row[5], row[6]) for row in rows]

    def exercises(self) -> list[str]:
        """The folders of all exercises for which something was handed in."""
        return [row[0] for row in self.file.execute("select distinct exercise from handins order by exercise")]

    def versions_of(self) -> dict[str, frozenset[str]]:
        """The versions of each exercise under which its hand-ins were graded."""
        query = "select distinct exercise, version from handins join versions using (key)"
        versions: dict[str, set[str]] = {}
        for exercise, version in self.file.execute(query):
            versions.setdefault(exercise, set()).add(version)
        return {exercise: frozenset(of_exercise) for exercise, of_exercise in versions.items()}

    def students(self) -> Iterator[tuple[Student, list[ExerciseResult]]]:
        """Each student with the results of what was graded, one student after the other."""
        sandbox = self.fact("sandbox")
        for id, name in self.file.execute("select student, name from students order by student").fetchall():
            yield Student(id, name), self.results_of(id, sandbox)

    def results_of(self, student: str, sandbox: dict[str, Any] | None = None) -> list[ExerciseResult]:
        """The results of one student's hand-ins, of those that were graded. sandbox: that of the run."""
        query = "select record from handins join results using (key) where student = ? and trouble = ''"
        return [read(row[0], sandbox) for row in self.file.execute(query, (student,))]


def _wait_and_lock(path: Path, schema: str) -> Database:
    """The file, locked for this process until it is closed, with the tables. Raises sqlite3.Error."""
    end = time.monotonic() + WAIT_S
    while True:
        database = sqlite3.connect(path, timeout=0, isolation_level=None, factory=Database)
        database.path = path
        try:
            # There is one writer only: then the write-ahead log needs no shared memory and works on network drives too.
            database.execute("pragma locking_mode=exclusive")
            database.execute("pragma journal_mode=wal")
            database.execute("pragma synchronous=normal")
            database.executescript(f"begin immediate; {schema} commit;")
            return database
        except sqlite3.Error as error:
            database.close()
            if "locked" not in str(error) or time.monotonic() > end:
                raise
        # Two that open it at once each keep the other from the lock. SQLite's own pauses are as long for one as for the
        # other, so both would wait in vain.
        time.sleep(random.uniform(0, PAUSE_S))


def _frozen(value: Any) -> Any:
    """Lists of lists as tuples of tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _handin(row: Sequence[Any]) -> HandIn:
    """Make a hand-in of a row that begins with student, name, exercise, place and member."""
    return HandIn(Student(row[0], row[1]), row[2], decode_name(row[3]), decode_name(row[4]))
