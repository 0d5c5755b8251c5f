"""Grades submissions of one exercise: runs every check against the worker and makes the record."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from grader import messages
from grader.catalog import Exercise
from grader.connection import LearnerError, Remote
from grader.diagnosis import Diagnostician, Failure
from grader.learner import Learner
from grader.nursery import Limits, Nursery
from grader.report.inert import inert
from grader.results import ERROR, FAILED, NOT_CHECKED, PASSED, CheckResult, ExerciseResult
from grader.session import Session, check_id, is_hidden, run_session, task_of, title
from grader.submission import Submission

DEVICE_CALL_S = 30.0  # the first call on a GPU starts CUDA


@dataclass(frozen=True)
class Settings:
    """How to grade. reveal: whether messages may show hidden inputs and expected values."""

    device: str = "cpu"
    seed: int = 0
    timeout: float | None = None  # seconds for one call, instead of the exercise's own
    reveal: bool = True
    diagnose: bool = True


def grade(exercise: Exercise, submission: Submission, nursery: Nursery, settings: Settings) -> ExerciseResult:
    """The verdict on one submission. Raises InfrastructureError where the grader fails."""
    results: list[ExerciseResult] = []
    grade_all(exercise, [submission], nursery, settings, lambda _, result: results.append(result))
    return results[0]


def grade_all(
    exercise: Exercise,
    submissions: Iterable[Submission],
    nursery: Nursery,
    settings: Settings,
    record: Callable[[Submission, ExerciseResult], None],
) -> None:
    """Grade submissions one after the other; `record(submission, result)` is called for each.

    The checks are collected once, so that the cost of pytest's start is paid once.
    """

    def work(session: Session) -> None:
        examiner = Examiner(session, nursery, settings)
        for submission in submissions:
            record(submission, examiner.examine(submission))

    run_session(exercise, settings.seed, work)


def unreadable(exercise: Exercise, filename: str, message: str, settings: Settings, **known) -> ExerciseResult:
    """The verdict "error": nothing of the submission could be run."""
    reason = "not checked: the file could not be loaded"
    facts = {
        "checks": tuple(
            CheckResult(name, name.replace("_", " "), NOT_CHECKED, 0.0, points, reason)
            for name, points in exercise.points.items()
        ),
        "duration_s": 0.0,
        **known,
    }
    return ExerciseResult(
        exercise=exercise.folder,
        title=exercise.title,
        submission=filename,
        device=settings.device,
        seed=settings.seed,
        status=ERROR,
        message=inert(message),
        **facts,
    )


class Examiner:
    """Grades one submission after the other in one pytest session."""

    def __init__(self, session: Session, nursery: Nursery, settings: Settings):
        self.session, self.nursery, self.settings = session, nursery, settings
        self.exercise = session.exercise
        self.limits = limits_of(self.exercise, settings)
        self.diagnostician = Diagnostician(session)

    def examine(self, submission: Submission) -> ExerciseResult:
        """Load the submission in a fresh worker and run every check on it."""
        started = time.monotonic()
        remote = Remote(self.nursery, submission, self.exercise.slug, self.limits)
        try:
            try:
                remote.load()
            except LearnerError as error:
                message = messages.learner_error(error, submission.filename)  # nothing hidden was sent yet
                return self.unloadable(submission, message, remote.output, time.monotonic() - started)
            subject = Learner(remote, self.settings.device)
            for rule in self.exercise.forbidden:
                subject.watched |= dict.fromkeys(rule.functions, rule.operations)
            checks, begun = self.verdicts(submission, subject)
        finally:
            remote.close()
        return ExerciseResult(
            exercise=self.exercise.folder,
            title=self.exercise.title,
            submission=submission.filename,
            device=self.settings.device,
            seed=self.settings.seed,
            status=PASSED if all(check.outcome == PASSED for check in checks) else FAILED,
            duration_s=round(time.monotonic() - started, 4),
            checks=tuple(checks),
            # What a call printed may hold a hidden input; what loading printed cannot.
            output=inert(remote.output if self.settings.reveal else remote.output_of_load),
            message="" if begun else messages.not_started(self.exercise.folder),
            started=begun,
            notes=submission.notes,
        )

    def verdicts(self, submission: Submission, subject: Learner) -> tuple[list[CheckResult], bool]:
        """The result of every check, in the order of the points, and whether anything was begun."""
        results: dict[str, CheckResult] = {}
        failures: dict[str, Failure] = {}
        for item in self.session.items:
            name = check_id(item)
            blocker = next((n for n in task_of(item)[1] if n in results and results[n].outcome != PASSED), None)
            if blocker is not None:
                reason = f"not checked: first mend “{results[blocker].title}”"
                results[name] = self.result(item, NOT_CHECKED, reason)
                continue
            error, calls = self.session.run(item, subject)
            if error is None:
                results[name] = self.result(item, PASSED)
                continue
            failures[name] = Failure(item, error, calls)
            last = calls[-1] if calls else None
            message = messages.failure(error, last, submission.filename, self.settings.reveal)
            results[name] = self.result(item, FAILED, inert(message))
        passed = {name for name, result in results.items() if result.outcome == PASSED}
        begun = bool(passed) or not all(failure.is_not_started for failure in failures.values())
        if begun and self.settings.diagnose:
            for name, sentence in self.diagnostician.sentences(failures, passed).items():
                results[name] = replace(results[name], diagnosis=sentence)
        return [results[name] for name in self.exercise.points if name in results], begun

    def result(self, item, outcome: str, message: str = "") -> CheckResult:
        name = check_id(item)
        points = self.exercise.points[name]
        return CheckResult(
            id=name,
            title=title(item),
            outcome=outcome,
            points=points if outcome == PASSED else 0.0,
            max_points=points,
            message=message,
            hidden=is_hidden(item),
            task=task_of(item)[0],
        )

    def unloadable(self, submission: Submission, message: str, output: str, seconds: float) -> ExerciseResult:
        """The verdict on a file that does not even load: no check was tried."""
        reason = "not checked: the file could not be loaded"
        return unreadable(
            self.exercise,
            submission.filename,
            message,
            self.settings,
            checks=tuple(self.result(item, NOT_CHECKED, reason) for item in self.session.items),
            output=inert(output),
            duration_s=round(seconds, 4),
            notes=submission.notes,
        )


def limits_of(exercise: Exercise, settings: Settings) -> Limits:
    """The exercise's limits, as the settings change them."""
    limits = exercise.limits
    if settings.device != "cpu":
        limits = replace(limits, memory_mb=None, call_s=max(limits.call_s, DEVICE_CALL_S))
    return limits if settings.timeout is None else replace(limits, call_s=settings.timeout)
