"""Grades submissions of one exercise: runs every check against the worker and makes the result."""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from grader.catalog import Exercise
from grader.catalog.errors import AuthorError, BadSubmission, InfrastructureError, NoSuchFile
from grader.catalog.exercise import Limits
from grader.judge import messages
from grader.judge.capture import capture_pictures
from grader.judge.collection import Check
from grader.judge.diagnosis import Diagnostician
from grader.judge.failure import Failure
from grader.judge.general_sentences import early_notes
from grader.judge.pictures import Picture
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.records import containment, forbidden, limited
from grader.records.results import (
    FAILED,
    NOT_CHECKED,
    PASSED,
    CheckResult,
    ExerciseResult,
    Settings,
    ungraded,
    unreadable,
)
from grader.records.sanitize import inert
from grader.records.submission import Submission
from grader.sandbox.call_results import Call, LearnerError
from grader.sandbox.forkserver import ForkServer, Workers
from grader.sandbox.local import Local
from grader.sandbox.process import Lost
from grader.sandbox.remote import Remote

WRONG = "the answer is not the right one"
UNBOUND = re.compile(r"name '(\w+)' is not defined\b.*", re.DOTALL)
E = TypeVar("E", bound=BaseException)
Completed = Callable[["Examiner", Submission, ExerciseResult], ExerciseResult]
DEVICE_CALL_S = 30.0  # the first call on a GPU starts CUDA


@dataclass(frozen=True)
class Explained:
    """The failures of the submission that was examined last, and their diagnoses.

    passed: ids of checks; checks: all that there are.
    """

    failures: dict[str, Failure]
    passed: set[str]
    diagnoses: dict[str, str]
    checks: tuple[Check, ...]

    def documented(self) -> "Explained":
        """The failures of the documented checks alone, without diagnoses: hidden checks may have led to those."""
        checks = tuple(check for check in self.checks if not check.hidden)
        return replace(self.only(checks), diagnoses={})

    def begun(self) -> "Explained":
        """The same without functions that are not started or missing, and without checks of large inputs."""
        failures = {name: failure for name, failure in self.failures.items() if failure.is_there}
        return replace(self, failures=failures).only(tuple(check for check in self.checks if not check.measured))

    def only(self, checks: tuple[Check, ...]) -> "Explained":
        """The same for these checks alone."""
        names = {check.id for check in checks}
        failures = {name: failure for name, failure in self.failures.items() if name in names}
        return Explained(failures, self.passed & names, self.diagnoses, checks)


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
                examiner.expect_more()
            try:
                result = examiner.examine(submission)
                result = completed(examiner, submission, result) if completed is not None else result
            except Exception as error:
                result = broken(exercise, submission.filename, error, settings)
                session.forget()
                examiner = Examiner(session, fork_server, settings, taken_for_passed)
            record(submission, result)
    return session


class Examiner:
    """Grades one submission after the other in one pytest session, each in a worker of its own.

    explained: of the last submission; None if no check failed or nothing was begun. taken_for_passed: ids of checks
    that are not run, because their outcome is known. calls: those of each check on the last submission.
    """

    def __init__(
        self,
        session: Session,
        fork_server: Workers,
        settings: Settings,
        taken_for_passed: frozenset[str] = frozenset(),
    ):
        self.session, self.settings, self.exercise = session, settings, session.exercise
        self.diagnostician = Diagnostician(session)
        self.taken_for_passed = taken_for_passed
        self.calls: dict[str, list[Call]] = {}
        self.fork_server, self.limits = fork_server, limits_of(session.exercise, settings)
        limited.start()  # meanwhile the first worker is made
        for rule in session.exercise.forbidden[:1]:
            fork_server.without_ready_made(rule)  # it starts in the background

    def examine(self, submission: Submission) -> ExerciseResult:
        """The verdict on one submission."""
        self.explained = None
        try:
            none: tuple[str, ...] = ()
            notes = containment.optional("the notes on a source", none, forbidden.notes, submission.source)
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
                arguments = (submission.source, _called(self.calls))
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
            device=self.device,
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

    explained: Explained | None = None

    taken_for_passed: frozenset[str] = frozenset()

    def expect_more(self) -> None:
        """Run each known mistake to its end from now on and keep its answers: faster where more submissions follow."""
        self.diagnostician.wrong_versions.caches_runs = self.device == "cpu"

    @property
    def device(self) -> str:
        """Where the submission computes."""
        return self.exercise.device or self.settings.device

    def subject(self, connection: Remote | Local) -> Learner:
        """The proxy that the checks are given."""
        learner = Learner(connection, self.device)
        for rule in self.exercise.forbidden:
            learner.watched |= dict.fromkeys(rule.functions, rule)
        return learner

    def verdicts(self, submission: Submission, subject: Learner, remote: Remote) -> tuple[list[CheckResult], bool, str]:
        """The result of every check in the order of the points, whether anything was begun, and a reason.

        The reason says why the source defines nothing of the exercise; "" where it defines something.
        """
        results: dict[str, CheckResult] = {}
        failures: dict[str, Failure] = {}
        self.calls = {}
        for check in self.session.checks:
            name = check.id
            blocker = self.blocker(check.after, results)
            wrong = {f: found for f, checks in check.each.items() if (found := self.blocker(checks, results))}
            if blocker is None and wrong.keys() == check.each.keys():
                blocker = next(iter(wrong.values()), None)
            if blocker is not None:
                reason = f"not checked: first fix “{results[blocker].title}”"
                results[name] = self.result(check, NOT_CHECKED, reason)
                continue
            error: BaseException | None = None
            notes: list[str] = []
            if name not in self.taken_for_passed:
                subject.stand_ins = dict.fromkeys(wrong, self.session.stand_in()) if wrong else {}
                error, calls = self.session.run(check, subject)
                self.calls[name] = calls
                notes = subject.notes
            if error is None and wrong:
                titles = {function: results[found].title for function, found in wrong.items()}
                results[name] = self.passed_in_part(check, titles)
                continue
            if error is None:
                results[name] = self.result(check, PASSED, "\n".join(notes))
                continue
            failures[name] = Failure(check, error, calls)
            last_call = calls[-1] if calls else None
            arguments = (_root_error(error, remote), last_call, submission, self.settings.reveal)
            message = containment.optional("the words for a failed check", WRONG, messages.failure, *arguments)
            results[name] = self.result(check, FAILED, inert(message))
        subject.stand_ins = {}
        passed = {name for name, result in results.items() if result.outcome == PASSED}
        begun = bool(passed) or not all(failure.is_not_started for failure in failures.values())
        if begun and self.settings.diagnose:
            diagnoses = self.sentences(failures, passed, subject)
            self.explained = Explained(failures, passed, diagnoses, self.session.checks) if failures else None
            for name, sentence in diagnoses.items():
                results[name] = replace(results[name], diagnosis=sentence)
        reason = self.absence(failures, passed, submission, remote)
        return [results[name] for name in self.exercise.points if name in results], begun, reason

    def absence(self, failures: dict[str, Failure], passed: set[str], submission: Submission, remote: Remote) -> str:
        """Why the source defines nothing that the checks ask for; "" where it defines something."""
        errors = [failure.error for failure in failures.values()]
        missing_errors = [error for error in errors if isinstance(error, LearnerError) and error.kind == "missing"]
        if passed or missing_errors != errors:
            return ""
        on_loading = [root for error in missing_errors if (root := _root_error(error, remote)) is not error]
        on_loading += [left_out.error for left_out in remote.left_out or ()]
        return messages.learner_error(on_loading[0], submission) if on_loading else submission.reason

    def blocker(self, names: Iterable[str], results: Mapping[str, CheckResult]) -> str | None:
        """The first of these checks that was not passed, not even in part."""
        return next((name for name in names if name in results and not results[name].points), None)

    def passed_in_part(self, check: Check, wrong: Mapping[str, str]) -> CheckResult:
        """A promise that all functions keep whose own checks pass. wrong: the others, with the title of a failed check.

        It gives their share of the points.
        """
        share = 1 - len(wrong) / len(check.each)
        first = next(iter(wrong.values()))
        message = f"checked without {' and '.join(wrong)}, for a part of the points: first fix “{first}”"
        result = self.result(check, NOT_CHECKED, message)
        return replace(result, points=round(result.max_points * share, 2))

    def sentences(self, failures: dict[str, Failure], passed: set[str], subject: Learner) -> dict[str, str]:
        """The diagnosis of each failed check that can be explained."""
        return self.diagnostician.sentences(failures, passed, subject)

    def result(self, check: Check, outcome: str, message: str = "") -> CheckResult:
        """The result of one check, with its points."""
        points = self.exercise.points[check.id]
        return CheckResult(
            id=check.id,
            title=check.title,
            outcome=outcome,
            points=points if outcome == PASSED else 0.0,
            max_points=points,
            message=message,
            hidden=check.hidden,
            task=check.task,
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


def _called(calls: Mapping[str, list[Call]]) -> frozenset[str]:
    """The functions that the checks called."""
    return frozenset(call.function for of_check in calls.values() for call in of_check)


def _root_error(error: E, remote: Remote) -> E | LearnerError:
    """The error of a check; for a missing name that the source defines, the error with which that failed on loading.

    A NameError keeps its place, and gains the statement that failed on loading and should have bound the name.
    """
    if isinstance(error, LearnerError) and error.facts.get("type") == "NameError":
        name = UNBOUND.fullmatch(str(error.facts.get("message", "")))
        left_out = remote.why_missing(name[1]) if name else None
        return LearnerError(error.kind, error.facts | {"left_out": left_out}, error.call) if left_out else error
    if isinstance(error, LearnerError) and error.kind == "missing":
        left_out = remote.why_missing(str(error.facts.get("missing", "")))
        return left_out.error if left_out else error
    return error
