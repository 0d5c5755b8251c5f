"""Grading for one who waits: the verdict first, its likely causes a moment later."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from grader import paths
from grader.catalog import Exercise
from grader.connection import Remote
from grader.desk.warm import Warm
from grader.learner import Learner
from grader.results import ExerciseResult
from grader.runner import Examiner, Settings, limits_of, unreadable
from grader.session import Session, run_session
from grader.submission import Submission

__all__ = ["Settings", "grade_all", "limits_of", "unreadable"]


def grade_all(
    exercise: Exercise,
    submissions: Iterable[Submission],
    warm: Warm,
    settings: Settings,
    tell: Callable[[ExerciseResult], None],
    hurried: Callable[[], bool],
) -> None:
    """As runner.grade_all. `tell(result)` is called once or twice for each submission.

    hurried: whether a newer file waits, so that the causes are of no interest any more.
    """

    def work(session: Session) -> None:
        examiner = Prompt(session, warm, settings)
        for submission in submissions:
            result = examiner.examine(submission)
            tell(result)
            if examiner.failures is not None and not hurried():
                tell(examiner.explained(result))
            if not hurried():
                examiner.rehearse()

    run_session(exercise, settings.seed, work)


class Prompt(Examiner):
    """An examiner that puts the diagnosis off. `failures`: what there is to explain of the last submission."""

    def __init__(self, session: Session, nursery: Warm, settings: Settings):
        super().__init__(session, nursery, settings)
        self.prints: dict[tuple, str] = {}  # what was printed during a check, by the key of its verdict

    def examine(self, submission: Submission) -> ExerciseResult:
        self.failures = None
        return super().examine(submission)

    def judge(self, item, subject: Learner, remote: Remote) -> tuple:
        """As of others' files: equal answers are judged once. Their prints are remembered too."""
        shown, before = self.settings, len(remote.output)
        self.settings = replace(shown, reveal=False)
        try:
            key, error, calls = super().judge(item, subject, remote)
        finally:
            self.settings = shown
        if key is not None and len(remote.output) == before:
            remote.output += self.prints.get(key, "")
        elif key is not None:
            self.prints[key] = remote.output[before:]
        return key, error, calls

    def sentences(self, failures, passed, keys) -> dict[str, str]:
        """No sentence yet."""
        self.failures = (failures, passed, keys) if failures else None
        return {}

    def explained(self, result: ExerciseResult) -> ExerciseResult:
        """The same verdict with the diagnoses."""
        found = super().sentences(*self.failures)
        checks = tuple(replace(check, diagnosis=found.get(check.id)) for check in result.checks)
        return replace(result, checks=checks)

    def rehearse(self) -> None:
        """All checks at once, while nobody waits. A learner's bundle has no solution to rehearse them on."""
        if self.rehearsal is None and paths.solution(self.exercise.folder).exists():
            super().rehearse()
            for item in self.session.items:
                self.rehearsal.of(item)
