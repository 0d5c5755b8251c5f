"""Grades submissions of one exercise: runs every check against the worker and makes the record."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from grader.catalog import Exercise
from grader.catalog.errors import AuthorError, BadSubmission, InfrastructureError, NoSuchFile
from grader.catalog.limits import Limits
from grader.judge import messages
from grader.judge.checker import Checker
from grader.judge.pictures import Picture, capture_pictures
from grader.judge.session import Session
from grader.judge.source_sentences import early_notes
from grader.records import containment, introspection, limited
from grader.records.results import FAILED, NOT_CHECKED, PASSED, ExerciseResult, Settings, ungraded, unreadable
from grader.records.sanitize import inert
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.process import Lost
from grader.sandbox.remote import Remote

Completed = Callable[["Examiner", Submission, ExerciseResult], ExerciseResult]
DEVICE_CALL_S = 30.0  # the first call on a GPU starts CUDA


def grade(
    exercise: Exercise,
    submission: Submission,
    fork_server: ForkServer,
    settings: Settings,
    completed: Completed | None = None,
) -> ExerciseResult:
    """The verdict on one submission. completed: see `grade_all`. Raises as `grade_all`."""
    results: list[ExerciseResult] = []
    grade_all(exercise, [submission], fork_server, settings, lambda _, result: results.append(result), completed)
    return results[0]


def graded(
    exercise: Exercise,
    read: Callable[[], Submission],
    display_name: str,
    fork_server: ForkServer,
    settings: Settings,
    completed: Completed | None = None,
) -> ExerciseResult:
    """The result of the submission that `read()` gives: "error" for a BadSubmission, "not_graded" for an error of ours.

    display_name: the name of a submission that cannot be read; completed: see `grade_all`. Raises NoSuchFile.
    """
    try:
        return grade(exercise, read(), fork_server, settings, completed)
    except BadSubmission as error:
        return unreadable(exercise, display_name, str(error), settings)
    except NoSuchFile:
        raise
    except Exception as error:
        return broken(exercise, display_name, error, settings)


def broken(exercise: Exercise, display_name: str, error: Exception, settings: Settings) -> ExerciseResult:
    """The result "not_graded", for an error of ours or an author's.

    Raises the error where `containment.policy.strict` is set, unless this machine is the reason.
    """
    is_machines = isinstance(error, InfrastructureError) and not isinstance(error, AuthorError)
    if containment.policy.strict and not is_machines:
        raise error
    return ungraded(exercise, display_name, containment.reason(error), settings)


def grade_all(
    exercise: Exercise,
    submissions: Iterable[Submission],
    fork_server: ForkServer,
    settings: Settings,
    record: Callable[[Submission, ExerciseResult], None],
    completed: Completed | None = None,
    taken_for_passed: frozenset[str] = frozenset(),
) -> Session:
    """Grade submissions one after the other; `record(submission, result)` is called for each.

    completed: `completed(examiner, submission, result)` gives the result that is recorded instead, with more details;
    taken_for_passed: see Checker.

    The checks are collected once, because pytest takes long to start. Where grading one submission fails by an error of
    ours, its result is "not_graded" and the next one gets a new examiner. Returns the session, which has ended. Raises
    InfrastructureError where the checks cannot be read.
    """

    with Session(exercise, settings.seed) as session:
        examiner = Examiner(session, fork_server, settings, taken_for_passed)
        for number, submission in enumerate(submissions):
            if number == 1:
                examiner.record_requests()
            try:
                result = examiner.examine(submission)
                result = completed(examiner, submission, result) if completed is not None else result
            except Exception as error:
                result = broken(exercise, submission.filename, error, settings)
                session.forget()
                examiner = Examiner(session, fork_server, settings, taken_for_passed)
            record(submission, result)
    return session


class Examiner(Checker):
    """Grades one submission after the other in one pytest session, each in a worker of its own."""

    def __init__(
        self,
        session: Session,
        fork_server: ForkServer,
        settings: Settings,
        taken_for_passed: frozenset[str] = frozenset(),
    ):
        super().__init__(session, settings)
        self.taken_for_passed = taken_for_passed
        self.fork_server, self.limits = fork_server, limits_of(session.exercise, settings)
        limited.start()  # meanwhile the first worker is made
        for rule in session.exercise.forbidden[:1]:
            fork_server.without_ready_made(rule)  # it starts in the background

    def examine(self, submission: Submission) -> ExerciseResult:
        """The verdict on one submission."""
        self.explained = None
        try:
            none: tuple[str, ...] = ()
            notes = containment.optional("the notes on a source", none, introspection.notes, submission.source)
            try:
                return self.checked(submission, notes)
            except Lost:  # the fork server is gone with the worker, and another one has taken its place
                return self.checked(submission, notes)
        except BadSubmission as error:  # raised wherever its source is read and takes too much
            return unreadable(self.exercise, submission.filename, str(error), self.settings, notes=submission.notes)

    def checked(self, submission: Submission, notes: tuple[str, ...]) -> ExerciseResult:
        """Load the submission in a new worker and run every check on it. notes: on its source."""
        notes = (*submission.notes, *notes)
        started = time.monotonic()
        none: tuple[str, ...] = ()
        remote = Remote(self.fork_server, submission, self.exercise.slug, self.limits)
        try:
            try:
                remote.load()
            except LearnerError as error:
                message = messages.learner_error(error, submission)  # nothing hidden was sent yet
                return self.unloadable(submission, message, remote.output, time.monotonic() - started, notes)
            notes = (*notes, *messages.notes_on_loading(remote.left_out or [], submission))
            checks, begun, reason = self.verdicts(submission, self.subject(remote), remote)
            if reason:
                output = remote.output_of_load
                return self.unloadable(submission, reason, output, time.monotonic() - started, notes)
            status = PASSED if all(check.outcome == PASSED for check in checks) else FAILED
            if begun and status == FAILED:
                arguments = (submission.source, self.called)
                notes += containment.optional("the notes on arguments", none, early_notes, *arguments)
            output = remote.output
            pictures: tuple[Picture, ...] = ()
            if self.settings.pictures and begun and status == FAILED:
                loaded = (self.exercise, submission, self.fork_server, remote)
                pictures = containment.optional("the pictures", pictures, capture_pictures, *loaded)
        finally:
            remote.close()
        return ExerciseResult(
            exercise=self.exercise.folder,
            title=self.exercise.title,
            submission=submission.filename,
            device=self.settings.device,
            seed=self.settings.shown_seed,
            status=status,
            pictures=pictures,
            duration_s=round(time.monotonic() - started, 4),
            checks=tuple(checks),
            # What a call printed may hold a hidden input; what loading printed cannot.
            output=inert(output if self.settings.reveal else remote.output_of_load),
            message="" if begun else messages.not_started(self.exercise.folder, submission, self.settings.reveal),
            started=begun,
            notes=notes,
        )

    def unloadable(
        self, submission: Submission, message: str, output: str, seconds: float, notes: tuple[str, ...]
    ) -> ExerciseResult:
        """The verdict on a file that cannot be loaded: no check is run."""
        reason = "not checked: the file could not be loaded"
        return unreadable(
            self.exercise,
            submission.filename,
            message,
            self.settings,
            checks=tuple(self.result(check, NOT_CHECKED, reason) for check in self.session.checks),
            output=inert(output),
            duration_s=round(seconds, 4),
            notes=notes,
        )


def limits_of(exercise: Exercise, settings: Settings) -> Limits:
    """The exercise's limits, as the settings change them."""
    limits = exercise.limits
    if settings.device != "cpu":  # the start of CUDA computes for seconds
        call_s = max(limits.call_s, DEVICE_CALL_S)
        limits = replace(limits, memory_mb=None, call_s=call_s, call_cpu_s=None, load_cpu_s=None)
    if settings.timeout is not None:
        limits = replace(limits, call_s=settings.timeout, call_cpu_s=None, load_cpu_s=None)
    return limits
