"""Enters the submissions of a class into the store, and makes tasks of those that have no result."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader import catalog
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom import stored_result, version
from grader.classroom.arrivals import Clock
from grader.classroom.handins import Found, HandIn, Student
from grader.classroom.history import History, Kept
from grader.classroom.store import Store
from grader.classroom.tasks import Task
from grader.records import containment
from grader.records.results import Settings, unreadable
from grader.records.submission import Submission


@dataclass(frozen=True)
class Memory:
    """The settings by which a run records attempts.

    clock: gives the time of a hand-in; keeps: whether texts are kept too, so that each attempt can count.
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

    exercises: the folders whose entries are replaced; any_seed: a result with the seed of an earlier run counts too;
    gone: students who leave the class. to_grade: how many submissions have no result.
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
    ) -> None:
        self.file, self.settings, self.submissions, self.exercises = file, settings, submissions, exercises
        self.any_seed, self.memory, self.gone = any_seed, memory, gone
        self.to_grade = 0
        self.waiting: dict[str, dict[str, HandIn]] = {}  # to be graded, by exercise and key

    def enter(self, begin: Callable[[], None]) -> int:
        """Enter all submissions, and refuse those that cannot be read. Returns how many are to be graded.

        begin: is called before the first submission that is to be graded.
        """
        with self.file.roll(self.exercises, self.gone):
            for student in self.submissions.students:
                self.file.enrol(student)
            for handin in self.submissions.handins:
                try:
                    submission = self.read(handin)
                    key = self.key(handin.exercise, submission)
                except (BadSubmission, NoSuchFile) as error:
                    self.refuse(handin, str(error))
                except OSError as error:
                    self.file.enter(handin, None, f"the file cannot be read: {error.strerror}")
                except Exception as error:
                    self.broken(handin, error)
                else:
                    self.file.enter(handin, key)
                    self.remember(handin, identity(submission), key, submission)
                    self.wait_for(handin, key, begin)
            for handin, key in self.earlier():
                self.wait_for(handin, key, begin)
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
        if submission is not None and self.memory.keeps:
            self.memory.history.keep(digest, submission)

    def earlier(self) -> Iterator[tuple[HandIn, str]]:
        """Earlier attempts that may count, with the keys that their results have now."""
        if self.memory is None or not self.memory.keeps:
            return
        history = self.memory.history
        exercises = self.exercises or sorted({handin.exercise for handin in self.submissions.handins})
        for number, attempt in history.earlier(exercises):
            submission = history.submission(attempt.digest)
            if submission is not None:
                key = self.key(attempt.exercise, submission)
                history.rekey(number, key)
                student = Student(attempt.student)
                name, origin = submission.filename, attempt.origin
                yield KeptHandIn(student, attempt.exercise, name, origin=origin, submission=submission), key

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
        name = f"{handin.exercise.partition('_')[2]}{Path(handin.member or handin.place).suffix}"
        notes = tuple(note.replace(submission.filename, name) for note in submission.notes)
        return replace(submission, filename=name, notes=notes)

    def key(self, exercise: str, submission: Submission) -> str:
        """The key of the result in the store, whether or not it is there."""
        settings = self.settings
        more = f"{settings.timeout} where" if settings.where else f"{settings.timeout}"
        case = stored_result.case(submission, version.exercise(exercise), settings.device, more)
        earlier = self.file.latest_key(case) if self.any_seed else None
        return earlier or stored_result.key(case, settings.seed)

    def refuse(self, handin: HandIn, message: str) -> None:
        """Record the verdict on a file that cannot be read as a submission."""
        exercise = catalog.read(handin.exercise)
        result = unreadable(exercise, handin.shown, message, self.settings)
        record = stored_result.written(result)
        key = f"unreadable {stored_result.digest(record)}"
        self.file.add(key, record)
        self.file.enter(handin, key)
        self.remember(handin, key, key)

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
    return stored_result.digest(json.dumps([submission.digest, submission.filename, submission.notes]))
