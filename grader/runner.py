"""Grades submissions of one exercise: runs every check against the worker and makes the record."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from grader import machinery, messages, paths
from grader.catalog import Exercise
from grader.connection import Diverged, LearnerError, Local, Remote
from grader.diagnosis import Diagnostician, Failure
from grader.learner import Learner
from grader.nursery import Limits, Nursery
from grader.pictures import photograph
from grader.rehearsal import Rehearsal, Verdict
from grader.report.inert import inert
from grader.results import FAILED, NOT_CHECKED, PASSED, CheckResult, ExerciseResult, Settings, unreadable
from grader.session import Session, check_id, is_hidden, run_session, task_of, title
from grader.submission import Submission

DEVICE_CALL_S = 30.0  # the first call on a GPU starts CUDA


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
        for number, submission in enumerate(submissions):
            if number == 1:
                examiner.rehearse()
            record(submission, examiner.examine(submission))

    run_session(exercise, settings.seed, work)


class Examiner:
    """Grades one submission after the other in one pytest session."""

    def __init__(self, session: Session, nursery: Nursery, settings: Settings):
        self.session, self.nursery, self.settings = session, nursery, settings
        self.exercise = session.exercise
        self.limits = limits_of(self.exercise, settings)
        self.diagnostician = Diagnostician(session)
        self.rehearsal: Rehearsal | None = None

    def rehearse(self) -> None:
        """From now on, ask faster: worth its while where more than one submission is graded."""
        known = paths.solution(self.exercise.folder).exists()  # not in a learner's bundle
        if known and self.rehearsal is None and self.settings.device == "cpu":
            self.rehearsal = Rehearsal(self.session, self.subject)
            self.diagnostician.remembers = True

    def subject(self, connection: Remote | Local) -> Learner:
        """The proxy that the checks see."""
        learner = Learner(connection, self.settings.device)
        for rule in self.exercise.forbidden:
            learner.watched |= dict.fromkeys(rule.functions, rule.operations)
        return learner

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
            checks, begun = self.verdicts(submission, self.subject(remote), remote)
            status = PASSED if all(check.outcome == PASSED for check in checks) else FAILED
            output, pictures = remote.output, ()
            if self.settings.pictures and begun and status == FAILED:
                pictures = photograph(self.exercise, submission, self.nursery, remote)
        finally:
            remote.close()
        return ExerciseResult(
            exercise=self.exercise.folder,
            title=self.exercise.title,
            submission=submission.filename,
            device=self.settings.device,
            seed=self.settings.seed,
            status=status,
            pictures=pictures,
            duration_s=round(time.monotonic() - started, 4),
            checks=tuple(checks),
            # What a call printed may hold a hidden input; what loading printed cannot.
            output=inert(output if self.settings.reveal else remote.output_of_load),
            message="" if begun else messages.not_started(self.exercise.folder),
            started=begun,
            notes=(*submission.notes, *machinery.notes(submission.source)),
        )

    def verdicts(self, submission: Submission, subject: Learner, remote: Remote) -> tuple[list[CheckResult], bool]:
        """The result of every check, in the order of the points, and whether anything was begun."""
        results: dict[str, CheckResult] = {}
        keys: dict[str, tuple | None] = {}
        failures: dict[str, Failure] = {}
        for item in self.session.items:
            name = check_id(item)
            blocker = next((n for n in task_of(item)[1] if n in results and results[n].outcome != PASSED), None)
            if blocker is not None:
                reason = f"not checked: first mend “{results[blocker].title}”"
                results[name] = self.result(item, NOT_CHECKED, reason)
                continue
            keys[name], error, calls = self.judge(item, subject, remote)
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
            for name, sentence in self.sentences(failures, passed, keys).items():
                results[name] = replace(results[name], diagnosis=sentence)
        return [results[name] for name in self.exercise.points if name in results], begun

    def judge(self, item, subject: Learner, remote: Remote) -> tuple[tuple | None, BaseException | None, list]:
        """Run one check: the key of the verdict where it can be remembered, the error, the calls."""
        if self.rehearsal is None:
            return (None, *self.session.run(item, subject))
        bodies = remote.perform(self.rehearsal.of(item))
        # Prints are told at a learner's desk, so there each answer is read.
        keys = () if self.settings.reveal else self.rehearsal.keys(item, remote, bodies, subject.hits)
        key = keys[-1] if keys else None
        known = self.rehearsal.known(keys)
        if known is not None:
            remote.forget()
            subject.hits |= known.hits
            return key, known.error, list(known.calls)
        error, calls = self.session.run(item, subject)
        remote.forget()
        if isinstance(error, Diverged):
            remote.restart()
            return (None, *self.session.run(item, subject))
        if keys:
            kept = () if error is None else tuple(calls)
            self.rehearsal.remember(keys, Verdict(error, kept, dict(subject.hits)))
        return key, error, calls

    def sentences(self, failures: dict[str, Failure], passed: set[str], keys: dict) -> dict[str, str]:
        """The diagnosis of each failed check; of failures seen before, the one found then."""
        key = (tuple((name, keys[name]) for name in failures), frozenset(passed))
        if self.rehearsal is None or any(keys[name] is None for name in failures):
            return self.diagnostician.sentences(failures, passed)
        if key not in self.rehearsal.sentences:
            self.rehearsal.sentences[key] = self.diagnostician.sentences(failures, passed)
        return self.rehearsal.sentences[key]

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
            notes=(*submission.notes, *machinery.notes(submission.source)),
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
