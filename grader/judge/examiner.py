"""Grades submissions of one exercise: runs every check against the worker and makes the record."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from grader.catalog import Exercise, paths
from grader.catalog.errors import BadSubmission, InfrastructureError
from grader.catalog.limits import Limits
from grader.judge import messages
from grader.judge.diagnosis import Diagnostician
from grader.judge.failure import Failure
from grader.judge.pictures import Picture, capture_pictures
from grader.judge.proxy import Learner
from grader.judge.recording import Key, Recording, Verdict
from grader.judge.session import Check, Session
from grader.records import containment, introspection, limited
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
from grader.records.submission import NoSuchFile, Submission
from grader.sandbox.call_results import Call, LearnerError
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.local import Local
from grader.sandbox.process import Lost
from grader.sandbox.remote import Remote
from grader.sandbox.transcript import Diverged

Tried = tuple[Key | None, BaseException | None, list[Call]]  # the key of a verdict, the error, the calls
Completed = Callable[["Examiner", Submission, ExerciseResult], ExerciseResult]
WRONG = "the answer is not the right one"
E = TypeVar("E", bound=BaseException)
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
    shown: str,
    fork_server: ForkServer,
    settings: Settings,
    completed: Completed | None = None,
) -> ExerciseResult:
    """The result of what `read()` gives, whatever it is: "error" for a BadSubmission, "not_graded" where we break.

    shown: what it is called where it cannot be read; completed: see `grade_all`. Raises NoSuchFile.
    """
    try:
        return grade(exercise, read(), fork_server, settings, completed)
    except BadSubmission as error:
        return unreadable(exercise, shown, str(error), settings)
    except NoSuchFile:
        raise
    except Exception as error:
        return broken(exercise, shown, error, settings)


def broken(exercise: Exercise, shown: str, error: Exception, settings: Settings) -> ExerciseResult:
    """The result "not_graded", for an error of ours. Raises the error where `containment.policy.strict` is set."""
    if containment.policy.strict and not isinstance(error, InfrastructureError):
        raise error
    return ungraded(exercise, shown, containment.reason(error), settings)


def grade_all(
    exercise: Exercise,
    submissions: Iterable[Submission],
    fork_server: ForkServer,
    settings: Settings,
    record: Callable[[Submission, ExerciseResult], None],
    completed: Completed | None = None,
) -> Session:
    """Grade submissions one after the other; `record(submission, result)` is called for each.

    completed: `completed(examiner, submission, result)` gives what is recorded in the result's place: the verdict with
    more said of it.

    The checks are collected once, so that the cost of pytest's start is paid once. Where grading one submission breaks,
    its result is "not_graded" and the next one finds everything new. Returns the session, which has ended. Raises
    InfrastructureError where the checks cannot be read.
    """

    with Session(exercise, settings.seed) as session:
        examiner = Examiner(session, fork_server, settings)
        for number, submission in enumerate(submissions):
            if number == 1:
                examiner.record_requests()
            try:
                result = examiner.examine(submission)
                result = completed(examiner, submission, result) if completed is not None else result
            except Exception as error:
                result = broken(exercise, submission.filename, error, settings)
                session.forget()
                examiner = Examiner(session, fork_server, settings)
            record(submission, result)
    return session


@dataclass(frozen=True)
class Explained:
    """What failed in the submission that was examined last, and what is said of it. passed: ids of checks."""

    failures: dict[str, Failure]
    passed: set[str]
    diagnoses: dict[str, str]


class Examiner:
    """Grades one submission after the other in one pytest session.

    explained: of the last submission; None where no check failed, or nothing was begun.
    """

    explained: Explained | None = None

    def __init__(self, session: Session, fork_server: ForkServer, settings: Settings):
        self.session, self.fork_server, self.settings = session, fork_server, settings
        self.exercise = session.exercise
        self.limits = limits_of(self.exercise, settings)
        self.diagnostician = Diagnostician(session)
        self.recording: Recording | None = None
        limited.start()  # meanwhile the first worker is made

    def record_requests(self) -> None:
        """From now on, ask faster: worth its while where more than one submission is graded."""
        known = paths.solution(self.exercise.folder).exists()  # not in a learner's bundle
        if known and self.recording is None and self.settings.device == "cpu":
            self.recording = Recording(self.session, self.subject)
            self.diagnostician.wrong_versions.caches_runs = True

    def subject(self, connection: Remote | Local) -> Learner:
        """The proxy that the checks see."""
        learner = Learner(connection, self.settings.device)
        for rule in self.exercise.forbidden:
            learner.watched |= dict.fromkeys(rule.functions, rule)
        return learner

    def examine(self, submission: Submission) -> ExerciseResult:
        """The verdict on one submission."""
        self.explained = None
        try:
            none: tuple[str, ...] = ()
            notes = containment.optional("the notes on a source", none, introspection.notes, submission.source)
            try:
                return self.tried(submission, notes)
            except Lost:  # the fork server is gone, and with it what the worker knew; there is another one now
                return self.tried(submission, notes)
        except BadSubmission as error:  # whatever reads its source may find that it takes too much
            return unreadable(self.exercise, submission.filename, str(error), self.settings, notes=submission.notes)

    def tried(self, submission: Submission, notes: tuple[str, ...]) -> ExerciseResult:
        """Load the submission in a fresh worker and run every check on it. notes: on its source."""
        notes = (*submission.notes, *notes)
        started = time.monotonic()
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
            message="" if begun else messages.not_started(self.exercise.folder, submission.source),
            started=begun,
            notes=notes,
        )

    def verdicts(self, submission: Submission, subject: Learner, remote: Remote) -> tuple[list[CheckResult], bool, str]:
        """The result of every check, in the order of the points, and whether anything was begun.

        At last the reason why nothing of the exercise is there, where what failed on loading is one.
        """
        results: dict[str, CheckResult] = {}
        keys: dict[str, Key | None] = {}
        failures: dict[str, Failure] = {}
        for check in self.session.checks:
            name = check.id
            blocker = next((n for n in check.after if n in results and results[n].outcome != PASSED), None)
            if blocker is not None:
                reason = f"not checked: first mend “{results[blocker].title}”"
                results[name] = self.result(check, NOT_CHECKED, reason)
                continue
            keys[name], error, calls = self.judge(check, subject, remote)
            if error is None:
                results[name] = self.result(check, PASSED, "\n".join(subject.told))
                continue
            failures[name] = Failure(check, error, calls)
            last = calls[-1] if calls else None
            explained = _explained(error, remote)
            told = (explained, last, submission, self.settings.reveal)
            message = containment.optional("the words for a failed check", WRONG, messages.failure, *told)
            results[name] = self.result(check, FAILED, inert(message))
        passed = {name for name, result in results.items() if result.outcome == PASSED}
        begun = bool(passed) or not all(failure.is_not_started for failure in failures.values())
        if begun and self.settings.diagnose:
            diagnoses = self.sentences(failures, passed, keys, subject)
            self.explained = Explained(failures, passed, diagnoses) if failures else None
            for name, sentence in diagnoses.items():
                results[name] = replace(results[name], diagnosis=sentence)
        reason = self.absence(failures, passed, submission, remote)
        return [results[name] for name in self.exercise.points if name in results], begun, reason

    def absence(self, failures: dict[str, Failure], passed: set[str], submission: Submission, remote: Remote) -> str:
        """Why the source defines nothing that the checks ask for, where something failed when it was loaded."""
        errors = [failure.error for failure in failures.values()]
        missing = [error for error in errors if isinstance(error, LearnerError) and error.kind == "missing"]
        if passed or missing != errors:
            return ""
        found = [error for one in missing if (error := _explained(one, remote)) is not one]
        found += [one.error for one in remote.left_out or ()]
        return messages.learner_error(found[0], submission) if found else submission.reason

    def judge(self, check: Check, subject: Learner, remote: Remote) -> Tried:
        """Run one check: the key of the verdict where it can be remembered, the error, the calls."""
        recording = self.recording
        script = recording.of(check) if recording else None
        if recording is None or script is None:
            return (None, *self.session.run(check, subject))
        bodies = remote.ask_ahead(script.requests, script.held)
        # Prints are told at a learner's desk, so there each answer is read.
        keys = () if self.settings.reveal else recording.keys(check, remote, bodies, subject.hits)
        key = keys[-1] if keys else None
        known = recording.known(keys)
        if known is not None:
            remote.drop_ahead()
            subject.hits |= known.hits
            return key, known.error, list(known.calls)
        error, calls = self.session.run(check, subject)
        complete = not remote.asked_live  # the key stands for all that the verdict depends on
        remote.drop_ahead()
        if isinstance(error, Diverged):
            remote.restart()
            return (None, *self.session.run(check, subject))
        if keys and complete:
            kept = () if error is None else tuple(calls)
            recording.remember(keys, Verdict(error, kept, dict(subject.hits)))
        return key if complete else None, error, calls

    def sentences(
        self, failures: dict[str, Failure], passed: set[str], keys: dict[str, Key | None], subject: Learner
    ) -> dict[str, str]:
        """The diagnosis of each failed check; of failures seen before, the one found then."""
        key = (tuple((name, keys[name]) for name in failures), frozenset(passed))
        if self.recording is None or any(keys[name] is None for name in failures):
            return self.diagnostician.sentences(failures, passed, subject)
        known = self.recording.sentences.get(key)
        if known is None:
            known = self.diagnostician.sentences(failures, passed, subject)
            if not self.diagnostician.tried:
                self.recording.sentences.put(key, known)
        return known

    def result(self, check: Check, outcome: str, message: str = "") -> CheckResult:
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

    def unloadable(
        self, submission: Submission, message: str, output: str, seconds: float, notes: tuple[str, ...]
    ) -> ExerciseResult:
        """The verdict on a file that does not even load: no check was tried."""
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


def _explained(error: E, remote: Remote) -> E | LearnerError:
    """What a check failed with; where it misses what the source does define, what failed when that was loaded."""
    if isinstance(error, LearnerError) and error.kind == "missing":
        reason = remote.why_missing(str(error.facts.get("missing", "")))
        return reason.error if reason else error
    return error


def limits_of(exercise: Exercise, settings: Settings) -> Limits:
    """The exercise's limits, as the settings change them."""
    limits = exercise.limits
    if settings.device != "cpu":  # the start of CUDA computes for seconds
        call_s = max(limits.call_s, DEVICE_CALL_S)
        limits = replace(limits, memory_mb=None, call_s=call_s, call_cpu_s=None, load_cpu_s=None)
    if settings.timeout is not None:
        limits = replace(limits, call_s=settings.timeout, call_cpu_s=None, load_cpu_s=None)
    return limits
