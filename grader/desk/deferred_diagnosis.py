"""Grades for a waiting learner: first the verdict, and its likely causes a moment later."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from grader.catalog import Exercise
from grader.judge.examiner import Examiner, Explained, limits_of
from grader.judge.failure import Failure
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.judge.where import search
from grader.records.results import ExerciseResult, Settings, unreadable
from grader.records.submission import Submission
from grader.sandbox.forkserver import Workers
from grader.sandbox.remote import Remote

__all__ = ["Settings", "grade_all", "limits_of", "unreadable"]


def grade_all(
    exercise: Exercise,
    submissions: Iterable[Submission],
    workers: Workers,
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
                examiner.expect_more()


class DeferredExaminer(Examiner):
    """An examiner that postpones the diagnosis.

    failures: what `explained` needs to know about the last submission; None where all of its checks passed.
    """

    def examine(self, submission: Submission) -> ExerciseResult:
        """Grade a submission without its diagnosis."""
        self.failures: tuple[dict[str, Failure], set[str], Learner] | None = None
        return super().examine(submission)

    def sentences(self, failures: dict[str, Failure], passed: set[str], subject: Learner) -> dict[str, str]:
        """No sentence yet: keep what `explained` needs."""
        self.failures = (failures, passed, subject) if failures else None
        return {}

    def with_diagnoses(self, result: ExerciseResult) -> ExerciseResult:
        """The same verdict with the diagnoses."""
        assert self.failures is not None, "nothing failed"
        failures, passed, subject = self.failures
        try:
            diagnoses = super().sentences(failures, passed, subject)
        finally:
            if isinstance(subject._connection, Remote):
                subject._connection.close()  # a trial may have started another worker
        self.explained = Explained(failures, passed, diagnoses, self.session.checks)
        checks = tuple(replace(check, diagnosis=diagnoses.get(check.id)) for check in result.checks)
        return replace(result, checks=checks)
