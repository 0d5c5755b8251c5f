"""Grades submissions of one exercise, one after the other, as a stream of events."""

from collections.abc import Callable, Iterable, Iterator

from grader.catalog import Exercise
from grader.catalog.errors import AuthorError, BadSubmission, InfrastructureError
from grader.catalog.exercise import Limits
from grader.judge.examiner import Examiner
from grader.judge.session import Session
from grader.records import containment
from grader.records.results import Event, ExerciseResult, Settings, ungraded, unreadable
from grader.records.submission import Submission, Unreadable
from grader.sandbox.forkserver import Workers
from grader.sandbox.process import Lost


def grade(
    exercise: Exercise, handed_in: Submission | Unreadable, workers: Workers, settings: Settings
) -> Iterator[Event]:
    """Grade one submission. Yields what happens, as Examiner.examine does; the last event has the final result.

    It is "error" for a file that cannot be read, and "not_graded" where the grader cannot do its work.
    """
    try:
        with Grading(exercise, workers, settings) as grading:
            yield from grading.grade(handed_in)
    except Exception as error:
        yield broken(exercise, handed_in.filename, error, settings)


def result(
    exercise: Exercise, handed_in: Submission | Unreadable, workers: Workers, settings: Settings
) -> ExerciseResult:
    """Grade one submission. Returns the final result."""
    return final(grade(exercise, handed_in, workers, settings))


def results(
    exercise: Exercise, handed_in: Iterable[Submission | Unreadable], workers: Workers, settings: Settings
) -> Iterator[ExerciseResult]:
    """Grade submissions one after the other with one session of checks. Yields the final result of each.

    Raises InfrastructureError where the checks cannot be read.
    """
    with Grading(exercise, workers, settings) as grading:
        for each in handed_in:
            yield grading.result(each)


class Grading:
    """Gradings of one exercise with one session of checks, since pytest takes long to collect them.

    A context manager: entering it collects the checks. Raises InfrastructureError where they cannot be read, and
    NotForThisMachine where a package that the exercise needs is not here. taken_for_passed: see Examiner.
    """

    def __init__(
        self, exercise: Exercise, workers: Workers, settings: Settings, taken_for_passed: frozenset[str] = frozenset()
    ) -> None:
        self.exercise, self.workers, self.settings = exercise, workers, settings
        self.taken_for_passed = taken_for_passed
        self.session = Session(exercise, settings.seed)
        self.number = 0  # of the submission, from 1

    def __enter__(self) -> "Grading":
        for rule in self.exercise.forbidden[:1]:
            self.workers.server_for(Limits(rule=rule))  # it starts while the checks are collected
        self.session.__enter__()
        self._renew()
        return self

    def __exit__(self, *exception: object) -> None:
        self.session.__exit__(*exception)

    def grade(
        self, handed_in: Submission | Unreadable, is_cancelled: Callable[[], bool] = lambda: False
    ) -> Iterator[Event]:
        """Grade the next submission in a worker of its own.

        Yields what Examiner.examine yields, and after the likely causes the lines if the settings ask for them. If an
        error of ours ends it, the last result is "not_graded", and the next submission gets a new examiner.
        is_cancelled: once it is true, nothing more is looked for, and no verdict need come.
        """
        self.number += 1
        if self.number > 1:
            self.examiner.has_more = True
        if isinstance(handed_in, Unreadable):
            yield self._unread(handed_in)
            return
        try:
            try:
                yield from self._examine(handed_in, is_cancelled)
            except Lost:  # the fork server is gone with the worker, and another one has taken its place
                yield from self._examine(handed_in, is_cancelled)
        except BadSubmission as error:  # raised wherever its source is read and takes too much
            notes = handed_in.notes
            yield unreadable(self.exercise, handed_in.filename, str(error), self.settings, notes=notes)
        except Exception as error:
            self.session.forget()
            self._renew()
            if not is_cancelled():
                yield broken(self.exercise, handed_in.filename, error, self.settings)

    def result(self, handed_in: Submission | Unreadable) -> ExerciseResult:
        """Grade the next submission. Returns the final result."""
        return final(self.grade(handed_in))

    def _examine(self, submission: Submission, is_cancelled: Callable[[], bool]) -> Iterator[Event]:
        """The events of one submission. Raises what Examiner.examine raises."""
        for event in self.examiner.examine(submission, is_cancelled):
            yield event
        if self.settings.where and self.examiner.explained is not None and not is_cancelled():
            from grader.judge.where import search  # a right file needs none of it

            assert isinstance(event, ExerciseResult)
            yield search.locate(self.examiner, submission, event, is_cancelled)

    def _unread(self, handed_in: Unreadable) -> ExerciseResult:
        """The result of a file that is not a submission."""
        if handed_in.error is not None:
            return broken(self.exercise, handed_in.filename, handed_in.error, self.settings)
        return unreadable(self.exercise, handed_in.filename, handed_in.reason, self.settings)

    def _renew(self) -> None:
        """Take a new examiner."""
        self.examiner = Examiner(self.session, self.workers, self.settings, self.taken_for_passed)


def final(events: Iterator[Event]) -> ExerciseResult:
    """The result, which is the last of the events."""
    *_, last = events
    assert isinstance(last, ExerciseResult)
    return last


def broken(exercise: Exercise, display_name: str, error: Exception, settings: Settings) -> ExerciseResult:
    """The result "not_graded", for an error of ours or an author's.

    Raises the error where `containment.strict` is set, unless this machine is the reason.
    """
    is_machines = isinstance(error, InfrastructureError) and not isinstance(error, AuthorError)
    if containment.strict and not is_machines:
        raise error
    return ungraded(exercise, display_name, containment.reason(error), settings)
