"""The results there are, on disk: each one written as it comes, whole or not at all.

A result stands under what it depends on: the submission's bytes, the exercise's version, the seed, the
device. So a run that was stopped goes on where it was, and what has changed is graded again. The seeds are secrets:
they stand here alone, and nobody but the file's owner can read it.
One SQLite file, written by one process; after kill −9 it holds every result that was written.
"""

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from grader.catalog.errors import InfrastructureError, WrongUse
from grader.classroom.handins import HandIn, Student
from grader.judge.pictures import Picture
from grader.records.results import ExerciseResult
from grader.records.submission import Submission
from grader.reports import json as as_json

NAME = ".grading.sqlite"
SCHEMA = """
create table if not exists facts (name text primary key, value text) without rowid;
create table if not exists seeds (number integer primary key, mark text unique, seed text);
create table if not exists results (key text primary key, record text) without rowid;
create table if not exists handins (
    student text, name text, exercise text, place text, member text, key text, trouble text,
    primary key (student, exercise)) without rowid;
create table if not exists students (student text primary key, name text) without rowid;
"""


def case(submission: Submission, version: str, device: str, more: str = "") -> str:
    """What a result depends on beside the seed, as one short text. more: settings besides."""
    return digest(json.dumps([submission.digest, submission.filename, submission.notes, version, device, more]))


def key(case: str, seed: int) -> str:
    """Where the result of a case stands that was asked what this seed draws."""
    return f"{case}.{_mark(seed)}"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Store:
    """The file of one folder of results. Raises WrongUse where it cannot be used."""

    def __init__(self, folder: Path):
        self.path = folder / NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDONLY, 0o600))
            with contextlib.suppress(OSError):  # a drive that knows no modes
                self.path.chmod(0o600)  # SQLite gives the same to the files beside it
            self.file = sqlite3.connect(self.path, timeout=0.5, isolation_level=None)
            # One writer alone: then the write-ahead log needs no shared memory and works on network drives too.
            self.file.execute("pragma locking_mode=exclusive")
            self.file.execute("pragma journal_mode=wal")
            self.file.execute("pragma synchronous=normal")
            self.file.executescript(f"begin immediate; {SCHEMA} commit;")
        except OSError as error:
            raise WrongUse(f"{folder} cannot be used: {error.strerror}. Name another folder: OUT=…") from None
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise WrongUse(f"another run is writing into {folder}. Wait for it, or name another: OUT=…") from None
            raise WrongUse(f"{self.path} cannot be used: {error}. Name another folder: OUT=…") from None
        except sqlite3.DatabaseError:
            raise WrongUse(f"{self.path} is damaged. Move it away: all will be graded again") from None

    def close(self) -> None:
        self.file.close()

    # Facts of the run: its settings, the sandbox.

    def fact(self, name: str, default=None):
        row = self.file.execute("select value from facts where name = ?", (name,)).fetchone()
        return default if row is None else json.loads(row[0])

    def note(self, name: str, value) -> None:
        self.file.execute("insert or replace into facts values (?, ?)", (name, json.dumps(value)))

    # Seeds. One that results were asked with is the run's until these are given out: see `finish`.

    def begin(self, seed: int) -> None:
        """From now on results are made with this seed."""
        self.file.execute("insert or replace into seeds (mark, seed) values (?, ?)", (_mark(seed), str(seed)))
        self.note("unfinished", seed)

    def finish(self) -> None:
        """The results are about to be given out: what is graded after this gets another seed."""
        self.note("unfinished", None)

    @property
    def unfinished(self) -> int | None:
        """The seed of a run that was stopped before its results were given out."""
        return self.fact("unfinished")

    def seed(self, key: str) -> int | None:
        """The seed of the result that stands, or is to stand, under this key."""
        row = self.file.execute("select seed from seeds where mark = ?", (key.partition(".")[2],)).fetchone()
        return row and int(row[0])

    # Results.

    def known(self, case: str) -> str | None:
        """The key of the latest result of a case, whatever its seed."""
        query = "select key from seeds join results on key = ? || '.' || mark order by number desc limit 1"
        row = self.file.execute(query, (case,)).fetchone()
        return row and row[0]

    def has(self, key: str) -> bool:
        return self.file.execute("select 1 from results where key = ?", (key,)).fetchone() is not None

    def result(self, key: str) -> ExerciseResult | None:
        row = self.file.execute("select record from results where key = ?", (key,)).fetchone()
        return row and read(row[0])

    def add(self, key: str, record: str) -> None:
        """Keep a result, as `written` made it. The first one stays."""
        try:
            self.file.execute("insert or ignore into results values (?, ?)", (key, record))
        except sqlite3.OperationalError as error:  # the disk is full
            raise InfrastructureError(
                f"{self.path} cannot be written: {error}. What it holds is kept: grade again"
            ) from None

    # Who handed in what, as of the latest run.

    @contextlib.contextmanager
    def roll(self, exercises: Iterable[str]) -> Iterator[None]:
        """What is entered within replaces all that was entered for these exercises, at once."""
        self.file.execute("begin")
        try:
            self.file.executemany("delete from handins where exercise = ?", [(folder,) for folder in exercises])
            self.file.execute("delete from students where student not in (select student from handins)")
            yield
        except BaseException:
            self.file.execute("rollback")
            raise
        self.file.execute("commit")

    def enrol(self, student: Student) -> None:
        self.file.execute("insert or ignore into students values (?, ?)", (student.id, student.name))

    def enter(self, handin: HandIn, key: str | None, trouble: str = "") -> None:
        """key None: there is nothing to grade yet; `trouble` says why."""
        where = _kept(handin.place), _kept(handin.member)
        row = (handin.student.id, handin.student.name, handin.exercise, *where, key, trouble)
        self.file.execute("insert or replace into handins values (?, ?, ?, ?, ?, ?, ?)", row)

    def troubles(self) -> dict[tuple[str, str], str]:
        """What could not be graded: (student's id, exercise) → why."""
        query = "select student, exercise, trouble from handins where trouble != ''"
        return {(student, exercise): trouble for student, exercise, trouble in self.file.execute(query)}

    def trouble(self, key: str, reason: str) -> None:
        self.file.execute("update handins set trouble = ? where key = ?", (reason, key))

    def handin(self, student: str, exercise: str) -> tuple[HandIn, str | None] | None:
        """What a student handed in for an exercise, and the key of its result."""
        query = "select student, name, exercise, place, member, key from handins where student = ? and exercise = ?"
        row = self.file.execute(query, (student, exercise)).fetchone()
        return row and (HandIn(Student(row[0], row[1]), row[2], *map(_known, row[3:5])), row[5])

    def exercises(self) -> list[str]:
        """The folders of all exercises that somebody handed in."""
        return [row[0] for row in self.file.execute("select distinct exercise from handins order by exercise")]

    def students(self) -> Iterator[tuple[Student, list[ExerciseResult]]]:
        """Each student with the results there are, one after the other."""
        query = "select record from handins join results using (key) where student = ? and trouble = ''"
        sandbox = self.fact("sandbox")
        for id, name in self.file.execute("select student, name from students order by student").fetchall():
            rows = self.file.execute(query, (id,))
            yield Student(id, name), [read(row[0], sandbox) for row in rows]


def written(result: ExerciseResult) -> str:
    """A result as text for the store. The sandbox is the same for all and is kept once."""
    record = as_json.record(result)
    probe = record.pop("sandbox", None) or {}
    record["tier"] = probe.get("tier")
    return json.dumps({"result": record, "pictures": [asdict(picture) for picture in result.pictures]})


def read(text: str, sandbox: dict | None = None) -> ExerciseResult:
    """The result that `written` made the text of."""
    known = json.loads(text)
    record = known["result"]
    if sandbox:
        record["sandbox"] = sandbox
    pictures = tuple(Picture(**{k: _frozen(v) for k, v in picture.items()}) for picture in known["pictures"])
    return as_json.read(record, pictures)


def _kept(name: str) -> str | bytes:
    """A file's name as SQLite takes it: in bytes, where it is not UTF-8."""
    try:
        return name.encode() and name
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogatepass")


def _known(name: str | bytes) -> str:
    return name if isinstance(name, str) else name.decode("utf-8", "surrogatepass")


def _mark(seed: int) -> str:
    return digest(f"seed {seed}")[:16]


def _frozen(value):
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
