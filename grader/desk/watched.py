"""The exercise that is watched: its file, the newest grading of it, and the last verdict."""

import secrets
import time

from grader.catalog import Exercise, paths
from grader.desk import lesson, progress
from grader.desk.grading import GradingThread, Job
from grader.desk.stable_file import StableFile
from grader.records.results import PASSED, ExerciseResult


class Watched:
    """One exercise from the moment it is opened until another one is. The inputs stay the same until then.

    result: the verdict that is shown, None before the first; when: its time of day; is_passed: now or before.
    tried: the last verdict whose checks were run, so that a syntax error does not lead back to the first task.
    """

    def __init__(self, exercise: Exercise, grading: GradingThread) -> None:
        self.exercise, self.grading = exercise, grading
        self.seed = secrets.randbelow(1_000_000)
        self.file = StableFile(exercise)
        self.job: Job | None = None  # the newest
        self.shown: Job | None = None  # the one whose verdict is shown
        self.submitted_at: float | None = None  # of time.monotonic; None where nothing is being graded
        self.result: ExerciseResult | None = None
        self.tried = progress.last_tried(exercise.folder)
        self.when = ""
        self.is_passed = progress.load().get(exercise.folder, progress.State()).done

    @property
    def task(self) -> lesson.Task | None:
        """The first task that is not done; None where all are."""
        return lesson.current(self.exercise.folder, self.tried)

    @property
    def seconds(self) -> float:
        """How long the grading has taken so far; 0 where there is none."""
        return 0.0 if self.submitted_at is None else time.monotonic() - self.submitted_at

    def grade(self, attempt: bool) -> None:
        """Grade the content of the file that was accepted last."""
        name = paths.shown(paths.stub(self.exercise.folder))
        self.job = Job(self.exercise, self.file.accepted.submission, name, self.seed, attempt)
        self.submitted_at = time.monotonic()
        self.grading.take(self.job)

    def forget(self) -> None:
        """Forget the verdict: the file is not there."""
        self.job = self.result = self.submitted_at = None

    def is_first(self, job: Job) -> bool:
        """Note that a verdict came. Returns whether it is the job's first: more come with likely causes and lines."""
        self.submitted_at = None
        return self.shown is not job

    def take(self, job: Job, result: ExerciseResult) -> None:
        """Keep a verdict as the one that is shown, and record it."""
        again = self.shown is job
        self.result, self.shown = result, job
        self.tried = result if result.tried else self.tried
        if not again:
            self.when = time.strftime("%H:%M:%S")
        self.is_passed = self.is_passed or result.status == PASSED
        progress.note(result, attempt=job.attempt and not again)
