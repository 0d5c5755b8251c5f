"""The results of a class in one SQLite file. Each result is written at once, as a whole or not at all.

The key of a result is made from all that it depends on: the submission, the exercise's version and the device, and
ends with the seed. So a run that was stopped goes on where it was, and what has changed is graded again. Seeds are
secrets, which only this file holds, and only its owner can read it.
"""

import contextlib
import hashlib
import json
import os
import random
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from typing import Any

from grader.catalog.errors import InfrastructureError, WrongUse
from grader.classroom import versions
from grader.classroom.marks import Student
from grader.judge.pictures import Picture
from grader.records import safe_files
from grader.records.results import ExerciseResult
from grader.records.submission import Submission
from grader.reports import json as as_json

NAME = ".grading.sqlite"
NO_ROOM = ("database or disk is full", "disk I/O error")  # SQLite's words
WAIT_S = 3.0  # for a writer that is about to end
PAUSE_S = 0.02  # the longest pause between two tries
SCHEMA = """
create table if not exists facts (name text primary key, value text) without rowid;
create table if not exists sources (content text primary key, filename text, source text, notes text) without rowid;
create table if not exists results (
    number integer primary key, key text unique, exercise text, content text, version text, record text);
create index if not exists by_content on results (content);
"""


@dataclass(frozen=True)
class Entry:
    """A hand-in of the latest run. content, key: of its source and its result; called: names of the student."""

    student: Student
    exercise: str
    file: str
    content: str
    key: str
    called: tuple[str, ...] = ()


class Store:
    """The file in a folder of results. Raises WrongUse if it cannot be used, InfrastructureError on a full disk."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDONLY, 0o600))
            with contextlib.suppress(OSError):  # some drives have no modes
                folder.chmod(0o700)
                self.path.chmod(0o600)  # SQLite gives the same mode to the files beside it
            if not (folder / ".gitignore").exists():
                safe_files.write_whole(folder / ".gitignore", "*\n", mode=0o600)
            self.file = _locked(self.path)
        except OSError as error:
            raise WrongUse(f"{folder} cannot be used: {error.strerror}. Name another folder: OUT=…") from None
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise WrongUse(f"another run is writing into {folder}. Wait for it, or name another: OUT=…") from None
            raise WrongUse(f"{self.path} cannot be used: {error}. Name another folder: OUT=…") from None
        except sqlite3.DatabaseError:
            raise WrongUse(f"{self.path} is damaged. Move it away: all will be graded again") from None

    @classmethod
    def existing(cls, folder: Path) -> "Store":
        """The file of a folder that holds results. Raises WrongUse if it holds none."""
        if not (folder / NAME).exists():
            raise WrongUse(f"{folder} holds no results. Grade first: make grade SUBMISSIONS=… OUT={folder}")
        return cls(folder)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def find(self, exercise: str, submission: Submission) -> ExerciseResult | None:
        """The latest result of a submission by the present version of the exercise; None if there is none."""
        query = "select record from results where content = ? and exercise = ? and version = ? order by number desc"
        where = content_of(exercise, submission), exercise, versions.of_exercise(exercise)
        row = self._run(query, where).fetchone()
        return row and read(row[0], self.fact("sandbox"))

    def latest(self, case: str) -> str | None:
        """The key of the latest result of a case, whatever its seed."""
        query = "select key from results where key > ? || '.' and key < ? || '/' order by number desc limit 1"
        row = self._run(query, (case, case)).fetchone()
        return row and row[0]

    def result(self, key: str) -> ExerciseResult | None:
        row = self._run("select record from results where key = ?", (key,)).fetchone()
        return row and read(row[0], self.fact("sandbox"))

    def keep(self, key: str, exercise: str, content: str, record: str) -> None:
        """Keep a result, as `write` made it, unless there is one with this key."""
        row = key, exercise, content, versions.of_exercise(exercise), record
        self._run("insert or ignore into results (key, exercise, content, version, record) values (?, ?, ?, ?, ?)", row)

    def outdated(self) -> list[Entry]:
        """The hand-ins of the latest run whose results are of an earlier version."""
        version_of = dict(self._run("select key, version from results").fetchall())
        entries = [one for one in self.entries() if one.key in version_of]
        return [one for one in entries if version_of[one.key] != versions.of_exercise(one.exercise)]

    def keep_source(self, exercise: str, submission: Submission) -> str:
        """Keep a source, and return the digest by which `source` gives it back."""
        content, plain = content_of(exercise, submission), as_of_lesson(exercise, submission)
        row = content, plain.filename, plain.source, json.dumps(plain.notes)
        self._run("insert or ignore into sources values (?, ?, ?, ?)", row)
        return content

    def source(self, content: str) -> Submission:
        """The source with this digest, which `keep_source` gave."""
        query = "select filename, source, notes from sources where content = ?"
        filename, source, notes = self._run(query, (content,)).fetchone()
        return Submission(source, filename, tuple(json.loads(notes)))

    def fact(self, name: str, default: Any = None) -> Any:
        """A fact that `note` wrote, as plain data."""
        row = self._run("select value from facts where name = ?", (name,)).fetchone()
        return default if row is None else json.loads(row[0])

    def note(self, name: str, value: Any) -> None:
        """Write a fact. value: plain data that JSON can hold."""
        self._run("insert or replace into facts values (?, ?)", (name, json.dumps(value)))

    def replace_entries(self, entries: Iterable[Entry]) -> None:
        """Replace the hand-ins of the run before."""
        self.note("handins", sorted(map(astuple, entries)))

    def entries(self) -> list[Entry]:
        """The hand-ins of the latest run, by student and exercise."""
        handins: list[list[Any]] = self.fact("handins", [])
        return [
            Entry(Student(*who), exercise, file, content, key, tuple(called))
            for who, exercise, file, content, key, called in handins
        ]

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all that is written inside, or nothing."""
        self._run("begin")
        try:
            yield
        except BaseException:
            if self.file.in_transaction:  # on a full disk it is over
                self._run("rollback")
            raise
        self._run("commit")

    def _run(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        try:
            return self.file.execute(statement, values)
        except sqlite3.OperationalError as error:
            if str(error) not in NO_ROOM:
                raise
            kept = "What it holds is kept: make room, and type the same command"
            raise InfrastructureError(f"{self.path} cannot be written: {error}. {kept}") from None


def as_of_lesson(exercise: str, submission: Submission) -> Submission:
    """The submission under the file name of the lesson, so that equal files have equal results."""
    name = f"{exercise.partition('_')[2]}{'.ipynb' if submission.filename.lower().endswith('.ipynb') else '.py'}"
    notes = tuple(note.replace(submission.filename, name) for note in submission.notes)
    return replace(submission, filename=name, notes=notes)


def content_of(exercise: str, submission: Submission) -> str:
    """A digest of what is graded: the source and the notes on it, whatever the file was called."""
    plain = as_of_lesson(exercise, submission)
    return digest(json.dumps([exercise, plain.filename, plain.source, plain.notes]))


def digest(text: str) -> str:
    """A short hash of a text: 32 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def seed_of(key: str) -> int:
    """The seed in the key of a result, "<digest of all that it depends on>.<seed>"."""
    return int(key.partition(".")[2])


def write(result: ExerciseResult) -> str:
    """A result as text for the store. The sandbox is the same for all results, so the store holds it once."""
    record = as_json.record(result)
    record.pop("sandbox", None)
    return json.dumps({"result": record, "pictures": [asdict(picture) for picture in result.pictures]})


def read(text: str, sandbox: dict[str, Any] | None = None) -> ExerciseResult:
    """The result that `write` made the text from. sandbox: that of the run."""
    stored = json.loads(text)
    record = stored["result"] | ({"sandbox": sandbox} if sandbox else {})
    fields = [{name: _frozen(value) for name, value in picture.items()} for picture in stored["pictures"]]
    return as_json.read(record, tuple(Picture(**picture) for picture in fields))


def _locked(path: Path) -> sqlite3.Connection:
    """The file, locked for this process until it is closed, with its tables. Raises sqlite3.Error."""
    end = time.monotonic() + WAIT_S
    while True:
        file = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            # There is only one writer, so the write-ahead log needs no shared memory and works on network drives.
            file.execute("pragma locking_mode=exclusive")
            file.execute("pragma journal_mode=wal")
            file.execute("pragma synchronous=normal")
            file.executescript(f"begin immediate; {SCHEMA} commit;")
            return file
        except sqlite3.Error as error:
            file.close()
            if "locked" not in str(error) or time.monotonic() > end:
                raise
        time.sleep(random.uniform(0, PAUSE_S))  # equal pauses would keep two from the lock


def _frozen(value: Any) -> Any:
    """Lists of lists as tuples of tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
