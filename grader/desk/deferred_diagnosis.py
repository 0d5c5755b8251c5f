"""Grades for a waiting learner: first the verdict, and its likely causes a moment later."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from grader.catalog import Exercise, paths
from grader.judge.collection import Check
from grader.judge.examiner import Examiner, Explained, limits_of
from grader.judge.failure import Failure
from grader.judge.proxy import Learner
from grader.judge.recording import Key, Tried
from grader.judge.session import Session
from grader.judge.where import search
from grader.records.bounded_cache import BoundedCache
from grader.records.results import ExerciseResult, Settings, unreadable
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.remote import Remote

__all__ = ["Settings", "grade_all", "limits_of", "unreadable"]
PRINTS = 8 << 20  # bytes of printed text that are cached


def grade_all(
    exercise: Exercise,
    submissions: Iterable[Submission],
    workers: ForkServer,
    settings: Settings,
    publish: Callable[[ExerciseResult], None],
    superseded: Callable[[], bool],
    where: bool = True,
) -> None:
    """Grade the submissions as examiner.grade_all does.

    `publish(result)` is called up to three times for each: with the verdict, with the diagnoses, and, if `where`, with
    the lines to look at.

    workers: gives workers, as a fork server does; superseded: whether a newer file waits, in which case nothing more is
    looked for.
    """
    with Session(exercise, settings.seed) as session:
        examiner = DeferredExaminer(session, workers, settings)
        for submission in submissions:
            result = examiner.examine(submission)
            publish(result)
            if examiner.failures is not None and not superseded():
                result = examiner.with_diagnoses(result)
                publish(result)
                if where and not superseded():
                    publish(search.located(examiner, submission, result, is_cancelled=superseded))
            if not superseded():
                examiner.record_requests()


class DeferredExaminer(Examiner):
    """An examiner that postpones the diagnosis.

    failures: what `explained` needs to know about the last submission; None where all of its checks passed.
    """

    def __init__(self, session: Session, fork_server: ForkServer, settings: Settings) -> None:
        super().__init__(session, fork_server, settings)
        self.prints: BoundedCache[tuple[Any, ...], str] = BoundedCache(PRINTS)  # of a check, by the key of its verdict

    def examine(self, submission: Submission) -> ExerciseResult:
        """Grade a submission without its diagnosis."""
        self.failures = None
        return super().examine(submission)

    def judge(self, check: Check, subject: Learner, remote: Remote) -> Tried:
        """Judge one check as without `reveal`: equal answers are judged once, and their prints are cached too."""
        settings, before = self.settings, len(remote.output)
        self.settings = replace(settings, reveal=False)
        try:
            key, error, calls = super().judge(check, subject, remote)
        finally:
            self.settings = settings
        if key is not None and len(remote.output) == before:
            remote.output += self.prints.get(key, "")
        elif key is not None:
            self.prints.put(key, remote.output[before:])
        return key, error, calls

    def sentences(
        self, failures: dict[str, Failure], passed: set[str], keys: dict[str, Key | None], subject: Learner
    ) -> dict[str, str]:
        """No sentence yet: keep what `explained` needs."""
        self.failures = (failures, passed, keys, subject) if failures else None
        return {}

    def with_diagnoses(self, result: ExerciseResult) -> ExerciseResult:
        """The same verdict with the diagnoses."""
        failures, passed, keys, subject = self.failures
        try:
            diagnoses = super().sentences(failures, passed, keys, subject)
        finally:
            subject._connection.close()  # a trial may have started another worker
        self.explained = Explained(failures, passed, diagnoses, self.session.checks)
        checks = tuple(replace(check, diagnosis=diagnoses.get(check.id)) for check in result.checks)
        return replace(result, checks=checks)

    def record_requests(self) -> None:
        """Record the requests of all checks while nobody waits. A bundle has no solution with which to record them."""
        if self.recording is None and paths.solution(self.exercise.folder).exists():
            super().record_requests()
            for check in self.session.checks:
                self.recording.of(check)
