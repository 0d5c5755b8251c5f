"""Enters the submissions of a class into the store, and makes tasks of those that have no result.

An exercise is judged again where its version changes: a digest of all that a grade depends on besides the submission,
its seed and its device. That is decided by files, since only then it is sure: its checks, limits, points and documented
numbers, its solution, its known mistakes and trained model, the rooms of the grader in JUDGING, and torch. Whatever
else changes (pages, CSV, intake, rules of a course, lessons, another exercise) judges nothing again. Of the rooms and
of the checks only what Python executes counts: no comment, no empty line.
"""

import contextlib
import functools
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom import store
from grader.classroom.arrivals import Clock
from grader.classroom.handins import Found, HandIn, Student
from grader.classroom.history import History, Kept
from grader.classroom.pool import Task
from grader.classroom.store import Store
from grader.records import containment
from grader.records.results import Settings, unreadable
from grader.records.safe_files import plain_name
from grader.records.sanitize import label
from grader.records.submission import Submission

WEEK = "week"  # the fact that holds the number of the last attempt before the new ones
UNREADABLE = "unreadable "  # how the keys of files begin that cannot be read
STALE = "its checks have changed, and its file is gone. Put the download that holds it into SUBMISSIONS and grade again"
# The parts of grader/ on which a verdict depends.
JUDGING = ("authors.py", "sentence.py", "judge", "sandbox", "records", "catalog", "worker")
STRING_OR_COMMENT = re.compile(
    r"""('{3}|"{3})(?:\\.|.)*?\1|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*""", re.DOTALL
)  # a tokenizer takes ten times as long, at the start of every run


@dataclass(frozen=True)
class Memory:
    """The settings by which a run records attempts.

    clock: gives the time of a hand-in; keeps: each attempt can count, so earlier ones are graded too.
    """

    history: History
    clock: Clock
    keeps: bool = False


@dataclass(frozen=True, slots=True)
class KeptHandIn(HandIn):
    """An earlier attempt, whose text was kept."""

    submission: Submission | None = None

    def read(self) -> Submission:
        """The submission. Raises NoSuchFile."""
        if self.submission is None:
            raise NoSuchFile("The text of this attempt was not kept.")
        return self.submission


class Ledger:
    """The submissions of a run.

    exercises: the folders whose entries are replaced; others: those whose entries stay; any_seed: a result with the
    seed of an earlier run counts too; gone: students who leave the class. to_grade: how many submissions have no
    result; again, stale: how many entries of others, by exercise, are graded again or cannot be.
    """

    def __init__(
        self,
        file: Store,
        settings: Settings,
        submissions: Found,
        exercises: Sequence[str] = (),
        any_seed: bool = False,
        memory: Memory | None = None,
        gone: Sequence[str] = (),
        others: Sequence[str] = (),
    ) -> None:
        self.file, self.settings, self.submissions, self.exercises = file, settings, submissions, exercises
        self.any_seed, self.memory, self.gone, self.others = any_seed, memory, gone, others
        self.to_grade = 0
        self.again: Counter[str] = Counter()
        self.stale: Counter[str] = Counter()
        self.waiting: dict[str, dict[str, HandIn]] = {}  # to be graded, by exercise and key

    def enter(self, begin: Callable[[], None]) -> int:
        """Enter all submissions, and refuse those that cannot be read. Returns how many are to be graded.

        begin: is called before the first submission that is to be graded.
        """
        last = self.memory.history.last_attempt() if self.memory else 0
        with self.file.roll(self.exercises, self.gone):
            for student in self.submissions.students:
                self.file.enrol(student)
            for handin in self.submissions.handins:
                try:
                    submission = self.read(handin)
                    key = self.key(handin.exercise, submission)
                except (BadSubmission, NoSuchFile) as error:
                    key = self.refused(handin, str(error))
                    self.file.enter(handin, key)
                    self.remember(handin, unreadable_identity(handin, str(error)), key)
                except OSError as error:
                    self.file.enter(handin, None, f"the file cannot be read: {error.strerror}")
                except Exception as error:
                    self.broken(handin, error)
                else:
                    self.file.enter(handin, key)
                    self.remember(handin, identity(submission), key, submission)
                    self.wait_for(handin, key, begin)
            for handin, key in (*self.outdated(), *self.earlier()):
                self.wait_for(handin, key, begin)
            if self.memory and self.memory.history.last_attempt() > last:
                self.file.note(WEEK, last)  # until a later run brings something new, this is what is new
        self.to_grade = sum(map(len, self.waiting.values()))
        return self.to_grade

    def wait_for(self, handin: HandIn, key: str, begin: Callable[[], None]) -> None:
        """Have a hand-in graded, unless it has a result."""
        if not self.file.has(key):
            if not self.waiting:
                begin()
            self.waiting.setdefault(handin.exercise, {}).setdefault(key, handin)

    def remember(self, handin: HandIn, digest: str, key: str | None, submission: Submission | None = None) -> None:
        """Note an attempt."""
        if self.memory is None:
            return
        time = self.memory.clock(handin)
        self.memory.history.attempt(Kept(handin.student.id, handin.exercise, digest, key, time, handin.origin))
        if submission is not None:
            self.memory.history.keep(digest, submission)

    def outdated(self) -> Iterator[tuple[HandIn, str]]:
        """Entries that stay although their checks have changed, with the keys that their results have now.

        Points of two versions are never mixed: an entry whose text is gone too has no grade until it is there again.
        """
        if self.memory is None:
            return
        history = self.memory.history
        for exercise in self.others:
            current = version_of_exercise(exercise)
            for handin, old_key, made_with in self.file.outdated(exercise, current):
                kept = history.latest(handin.student.id, exercise)
                submission = kept and (history.submission(kept.digest) or self.unchanged(handin, kept.digest))
                old_result = self.file.result(old_key)
                if made_with == current:
                    self.file.enter(handin, old_key)
                elif kept and submission:
                    key = self.key(exercise, submission)
                    self.file.enter(handin, key)
                    history.attempt(replace(kept, key=key))
                    self.again[exercise] += 1
                    yield KeptHandIn(handin.student, exercise, submission.filename, submission=submission), key
                elif kept and old_result is not None and old_key.startswith(UNREADABLE):
                    key = self.refused(handin, old_result.message)
                    self.file.enter(handin, key)
                    history.attempt(replace(kept, key=key))
                else:
                    self.file.enter(handin, old_key, STALE)
                    self.stale[exercise] += 1

    def unchanged(self, handin: HandIn, digest: str) -> Submission | None:
        """The submission, where its file is still there as it was."""
        with contextlib.suppress(BadSubmission, NoSuchFile, OSError):
            submission = self.read(handin)
            return submission if identity(submission) == digest else None
        return None

    def earlier(self) -> Iterator[tuple[HandIn, str]]:
        """Earlier attempts that may count, with the keys that their results have now."""
        if self.memory is None or not self.memory.keeps:
            return
        history = self.memory.history
        exercises = self.exercises or sorted({handin.exercise for handin in self.submissions.handins})
        for number, attempt in history.earlier([*exercises, *self.others]):
            if attempt.exercise in self.others and self.is_current(attempt):
                continue
            submission = history.submission(attempt.digest)
            if submission is not None:
                key = self.key(attempt.exercise, submission)
                history.rekey(number, key)
                student = Student(attempt.student)
                name, origin = submission.filename, attempt.origin
                yield KeptHandIn(student, attempt.exercise, name, origin=origin, submission=submission), key

    def is_current(self, attempt: Kept) -> bool:
        """Whether an attempt has a result of the present version of its exercise."""
        return attempt.key is not None and self.file.version(attempt.key) == version_of_exercise(attempt.exercise)

    def rows(self) -> list[Iterator[Task]]:
        """The tasks of each exercise. The last exercises come first: they take longest, and short ones balance the end.

        A file is read again when its task is taken.
        """
        return [self._row(exercise) for exercise in sorted(self.waiting, reverse=True)]

    def read(self, handin: HandIn) -> Submission:
        """The submission under the file name of the lesson, so that equal files have equal results.

        Raises BadSubmission or NoSuchFile.
        """
        submission = handin.read()
        name = _lesson_name(handin)
        notes = tuple(note.replace(submission.filename, name) for note in submission.notes)
        return replace(submission, filename=name, notes=notes)

    def key(self, exercise: str, submission: Submission) -> str:
        """The key of the result in the store, whether or not it is there."""
        settings = self.settings
        more = f"{settings.timeout} where" if settings.where else f"{settings.timeout}"
        case = store.case(submission, version_of_exercise(exercise), settings.device, more)
        earlier = self.file.latest_key(case) if self.any_seed else None
        return earlier or store.key(case, settings.seed)

    def refused(self, handin: HandIn, message: str) -> str:
        """Store the verdict on a file that cannot be read as a submission. Returns its key."""
        exercise = catalog.read(handin.exercise)
        result = unreadable(exercise, _lesson_name(handin), _without_place(handin, message), self.settings)
        record = store.write(result)
        key = f"{UNREADABLE}{store.digest(record)}"
        self.file.add(key, record, version_of_exercise(handin.exercise))
        return key

    def broken(self, handin: HandIn, error: Exception) -> None:
        """Record that there is no verdict, because the grader failed while it read the file."""
        if containment.policy.strict:
            raise error
        self.file.enter(handin, None, f"the grader broke while it read the file: {containment.reason(error)}")

    def _row(self, exercise: str) -> Iterator[Task]:
        """The tasks of one exercise. A file that has changed meanwhile is left out and noted."""
        for key, handin in self.waiting[exercise].items():
            try:
                submission = self.read(handin)
                unchanged = self.key(exercise, submission) == key
            except Exception:  # the file could be read before, so it has changed
                unchanged = False
            if not unchanged:
                self.file.trouble(key, "the file changed while the class was graded. Grade again")
                continue
            yield Task(key, exercise, submission.source, submission.filename, submission.notes)


def identity(submission: Submission) -> str:
    """A digest that two hand-ins share where they are the same."""
    return store.digest(json.dumps([submission.digest, submission.filename, submission.notes]))


def unreadable_identity(handin: HandIn, message: str) -> str:
    """The same for a file that cannot be read as a submission: of its bytes, else of what is wrong with it."""
    try:
        return hashlib.sha256(handin.content()).hexdigest()[:32]
    except (BadSubmission, NoSuchFile, OSError):
        return store.digest(_without_place(handin, message))


@functools.cache
def version_of_grader() -> str:
    """The version of the judging code and of torch: the same on each machine that may grade together."""
    parts = [paths.module(name) for name in JUDGING]
    files = [path for part in parts for path in ([part] if part.is_file() else part.rglob("*.py"))]
    return f"{_digest(files)} torch {metadata.version('torch')}"


@functools.cache
def version_of_exercise(folder: str) -> str:
    """The version of one exercise: its checks, trained model and solutions, and the grader that runs them."""
    files = [*paths.check_files(folder), paths.solution(folder), paths.failed_checks(folder)]
    files += [paths.mistakes(folder), paths.trained(folder)]
    return f"{_digest([path for path in files if path.exists()])} {version_of_grader()}"


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(paths.ROOT)}\0".encode())
        data = path.read_bytes()
        is_ours = path.suffix == ".py" and path.is_relative_to(paths.GRADER)
        digest.update(hashlib.sha256(strip_comments(data) if is_ours else data).digest())
    return digest.hexdigest()[:16]


def strip_comments(source: bytes) -> bytes:
    """A Python source without comments, empty lines and spaces at the ends of lines.

    Docstrings stay: that of a check is what a learner reads. The text is the same in every version of Python.
    """
    try:
        text = "\n".join(source.decode("utf-8").splitlines())
    except UnicodeDecodeError:
        return source
    # No Python source holds a zero character: it stands for the ends of lines in strings, which no line ends.
    text = STRING_OR_COMMENT.sub(lambda one: "" if one[0][0] == "#" else one[0].replace("\n", "\0"), text)
    kept = "\n".join(line for line in text.split("\n") if line.strip()).replace("\0", "\n")
    return "\n".join(line.rstrip() for line in kept.split("\n")).encode()


def _lesson_name(handin: HandIn) -> str:
    """The file name of the lesson, with the suffix that the student's file has, .py for .py.txt."""
    suffix = Path(plain_name(handin.member or handin.place)).suffix
    return f"{handin.exercise.partition('_')[2]}{suffix}"


def _without_place(handin: HandIn, message: str) -> str:
    """The message with the file name of the lesson for that of the file, which may hold the name of a download."""
    file = os.path.basename(handin.place)
    for shown in (handin.shown, label(f"{file}:{handin.member}"), label(file)):
        message = message.replace(shown, _lesson_name(handin))
    return message
