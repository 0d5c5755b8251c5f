"""Runs every check of an exercise on one submission after the other, and explains what failed."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from grader.catalog import Exercise
from grader.catalog.exercise import Limits
from grader.judge import findings, messages
from grader.judge.capture import capture_pictures
from grader.judge.collection import Check
from grader.judge.diagnosis import Diagnostician
from grader.judge.failure import Failure
from grader.judge.pictures import Picture
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.records import containment, forbidden, limited, source
from grader.records.evidence import Finding
from grader.records.results import (
    FAILED,
    NOT_CHECKED,
    NOT_LOADED,
    PASSED,
    CheckResult,
    Event,
    ExerciseResult,
    Settings,
    unreadable,
)
from grader.records.sanitize import inert
from grader.records.submission import Submission
from grader.sandbox.call_results import Call, LearnerError
from grader.sandbox.connection import Connection
from grader.sandbox.forkserver import Workers
from grader.sandbox.remote import Remote

WRONG = "the answer is not the right one"
UNBOUND = re.compile(r"name '(\w+)' is not defined\b.*", re.DOTALL)
E = TypeVar("E", bound=BaseException)
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

    def begun(self) -> "Explained":
        """The same without functions that are not started or missing, and without checks of large inputs."""
        failures = {
            name: failure for name, failure in self.failures.items() if failure.is_there and not failure.check.measured
        }
        checks = tuple(check for check in self.checks if not check.measured)
        return replace(self, failures=failures, passed=self.passed & {check.id for check in checks}, checks=checks)


class Examiner:
    """Grades one submission after the other in one pytest session, each in a worker of its own.

    explained: of the last submission; None if no check failed or nothing was begun. taken_for_passed: ids of checks
    that are not run, because their outcome is known. calls: those of each check on the last submission.
    """

    def __init__(
        self, session: Session, fork_server: Workers, settings: Settings, taken_for_passed: frozenset[str] = frozenset()
    ):
        self.session, self.settings, self.exercise = session, settings, session.exercise
        self.taken_for_passed = taken_for_passed
        self.explained: Explained | None = None
        self.calls: dict[str, list[Call]] = {}
        self.fork_server, self.limits = fork_server, limits_of(session.exercise, settings)
        self.has_more = False  # whether more submissions follow: then known mistakes run to their end, and are kept
        limited.helper.start()  # meanwhile the first worker is made

    def examine(self, submission: Submission, is_cancelled: Callable[[], bool] = lambda: False) -> Iterator[Event]:
        """Load the submission in a new worker, run every check on it, and explain what failed.

        Yields the result of each check, that of the exercise, and where a check failed the same with the likely causes.
        is_cancelled: once it is true, nothing more is looked for.
        Raises BadSubmission where reading the source takes too much, and Lost where the fork server has ended.
        """
        self.explained, self.calls = None, {}
        started = time.monotonic()
        notes = submission.notes
        if not self.settings.reveal:  # a teacher reads the result too
            note = containment.optional("the note on a source", "", forbidden.note, submission.source)
            notes += (note,) if note else ()
        remote = Remote(self.fork_server, submission, self.exercise.slug, self.limits)
        try:
            try:
                remote.load()
            except LearnerError as error:
                message = messages.learner_error(error, submission)  # nothing hidden was sent yet
                finding = containment.optional("the place of an error", None, findings.on_loading, error, submission)
                yield _time(self.unloadable(remote, message, remote.output, notes, finding), started)
                return
            notes += messages.notes_on_loading(remote.left_out or [], submission)
            subject = self.subject(remote)
            results: dict[str, CheckResult] = {}
            failures: dict[str, Failure] = {}
            for check in self.session.checks:
                results[check.id] = self.outcome(check, results, failures, subject, remote)
                yield results[check.id]
            subject.stand_ins = {}
            passed = {name for name, result in results.items() if result.outcome == PASSED}
            if reason := self.absence(failures, passed, remote):
                yield _time(self.unloadable(remote, reason, remote.output_of_load, notes), started)
                return
            begun = bool(passed) or not all(failure.is_not_started for failure in failures.values())
            result = _time(self.verdict(results, remote, begun, notes), started)
            yield result
            if not (begun and failures and self.settings.diagnose) or is_cancelled():
                return
            self.diagnostician.wrong_versions.caches_runs = self.has_more and self.device == "cpu"
            diagnoses = self.diagnostician.sentences(failures, passed, subject)
            self.explained = Explained(failures, passed, diagnoses, self.session.checks)
            checks = tuple(self.diagnosed(check, diagnoses.get(check.id), submission) for check in result.checks)
            yield _time(replace(result, checks=checks), started)
        finally:
            remote.close()

    def verdict(
        self, results: Mapping[str, CheckResult], remote: Remote, begun: bool, notes: tuple[str, ...]
    ) -> ExerciseResult:
        """The verdict on a file whose checks were run. begun: whether it is more than the stub."""
        checks = tuple(results[name] for name in self.exercise.points if name in results)
        status = PASSED if all(check.outcome == PASSED for check in checks) else FAILED
        submission = remote.submission
        output = remote.output  # before the pictures print more
        pictures: tuple[Picture, ...] = ()
        if begun and status == FAILED and self.settings.pictures:
            loaded = (self.exercise, submission, self.fork_server, remote)
            pictures = containment.optional("the pictures", pictures, capture_pictures, *loaded)
        return ExerciseResult(
            exercise=self.exercise.folder,
            title=self.exercise.title,
            submission=submission.filename,
            device=self.device,
            seed=self.settings.shown_seed,
            status=status,
            pictures=pictures,
            duration_s=0.0,
            checks=checks,
            # What a call printed may hold a hidden input; what loading printed cannot.
            output=inert(output if self.settings.reveal else remote.output_of_load),
            message="" if begun else messages.not_started(self.exercise.folder, submission),
            started=begun,
            notes=notes,
        )

    def unloadable(
        self, remote: Remote, message: str, output: str, notes: tuple[str, ...], finding: Finding | None = None
    ) -> ExerciseResult:
        """The verdict on a file that cannot be loaded: no check is run."""
        return unreadable(
            self.exercise,
            remote.submission.filename,
            message,
            self.settings,
            checks=tuple(self.result(check, NOT_CHECKED, NOT_LOADED) for check in self.session.checks),
            output=inert(output),
            notes=notes,
            finding=finding,
        )

    @cached_property
    def diagnostician(self) -> Diagnostician:
        """Made for the first file with a failed check: a right one needs none."""
        return Diagnostician(self.session)

    @property
    def device(self) -> str:
        """Where the submission computes."""
        return self.exercise.device or self.settings.device

    def subject(self, connection: Connection) -> Learner:
        """The proxy that the checks are given."""
        learner = Learner(connection, self.device)
        for rule in self.exercise.forbidden:
            learner.rules |= dict.fromkeys(rule.functions, rule)
        return learner

    def outcome(
        self,
        check: Check,
        results: Mapping[str, CheckResult],
        failures: dict[str, Failure],
        subject: Learner,
        remote: Remote,
    ) -> CheckResult:
        """Run one check, unless it waits for another one. results: of the checks above it. Its failure is added."""
        blocker = self.blocker(check.after, results)
        wrong = {f: found for f, checks in check.each.items() if (found := self.blocker(checks, results))}
        if blocker is None and wrong.keys() == check.each.keys():
            blocker = next(iter(wrong.values()), None)
        if blocker is not None:
            return self.result(check, NOT_CHECKED, f"not checked: first fix “{results[blocker].title}”")
        error: BaseException | None = None
        calls: list[Call] = []
        notes: list[str] = []
        if check.id not in self.taken_for_passed:
            subject.stand_ins = dict.fromkeys(wrong, self.session.stand_in()) if wrong else {}
            error, calls = self.session.run(check, subject)
            self.calls[check.id], notes = calls, subject.notes
        if error is None and wrong:
            return self.passed_in_part(check, {function: results[found].title for function, found in wrong.items()})
        if error is None:
            return self.result(check, PASSED, "\n".join(notes))
        failures[check.id] = failure = Failure(check, error, calls)
        root = _root_error(error, remote)
        arguments = (root, failure.call, remote.submission, self.settings.reveal, self.exercise.folder)
        message = containment.optional("the words for a failed check", WRONG, messages.failure, *arguments)
        told = (replace(failure, error=root), remote.submission, self.settings.reveal, self.exercise.folder)
        finding = containment.optional("the evidence of a failed check", None, findings.find, *told)
        return replace(self.result(check, FAILED, inert(message)), finding=finding)

    def absence(self, failures: dict[str, Failure], passed: set[str], remote: Remote) -> str:
        """Why the source defines nothing that the checks ask for; "" where it defines something."""
        submission = remote.submission
        errors = [failure.error for failure in failures.values()]
        missing_errors = [error for error in errors if isinstance(error, LearnerError) and error.kind == "missing"]
        if passed or missing_errors != errors:
            return ""
        on_loading = [root for error in missing_errors if (root := _root_error(error, remote)) is not error]
        stars = {line for line, names in source.outline(remote.source)["statements"] if "*" in names}
        defines = any(error.facts.get("names") for error in missing_errors)
        on_loading += [one.error for one in remote.left_out or () if not defines or one.statement in stars]
        if not defines and not submission.reason:  # no answer to any exercise: a person should see it
            on_loading += missing_errors
        return messages.learner_error(on_loading[0], submission) if on_loading else submission.reason

    def diagnosed(self, check: CheckResult, sentence: str | None, submission: Submission) -> CheckResult:
        """The check with its diagnosis. A known mistake is only probable until undoing it was tried."""
        if check.finding is None or sentence is None:
            return replace(check, diagnosis=sentence)
        versions = self.diagnostician.wrong_versions.all
        known = next((one for one in versions if one.sentence and sentence.startswith(one.sentence)), None)
        if known is None:
            return replace(check, diagnosis=sentence, finding=replace(check.finding, tried=True))
        finding = findings.in_definition(check.finding, known.definitions, submission)
        return replace(check, diagnosis=sentence, finding=replace(finding, tried=False))

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


def _time(result: ExerciseResult, started: float) -> ExerciseResult:
    """The result with the seconds since it was started, a value of time.monotonic()."""
    return replace(result, duration_s=round(time.monotonic() - started, 4))


def _root_error(error: E, remote: Remote) -> E | LearnerError:
    """The error of a check; for a missing name that the source defines, the error with which that failed on loading.

    A NameError keeps its place, and gains the statement that failed on loading and should have bound the name. So does
    one with which a definition failed.
    """
    if isinstance(error, LearnerError) and error.facts.get("type") == "NameError":
        name = UNBOUND.fullmatch(str(error.facts.get("message", "")))
        left_out = remote.why_missing(name[1]) if name else None
        return LearnerError(error.kind, error.facts | {"left_out": left_out}, error.call) if left_out else error
    if isinstance(error, LearnerError) and error.kind == "missing":
        left_out = remote.why_missing(str(error.facts.get("missing", "")))
        return _root_error(left_out.error, remote) if left_out else error
    return error
