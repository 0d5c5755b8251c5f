"""The thread that grades for the watch. It keeps the fork server, a spare worker and the checks ready."""

import contextlib
import gc
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from grader.catalog import Exercise
from grader.desk.spare_worker import SpareWorkers, Superseded
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer

IDLE_S = 0.05  # seconds between a verdict, which is shown first, and the fork of the spare worker


@dataclass(frozen=True)
class Job:
    """One file to grade. submission: the file's, or the reason why there is none."""

    exercise: Exercise
    submission: Submission | str
    filename: str
    seed: int
    attempt: bool = True  # False for the first grading when an exercise is opened


class GradingThread:
    """Takes jobs, grades only the newest, and calls `publish(job, result or exception)` from its thread.

    A failed verdict is published up to three times: at once, with the likely causes, and, if `where`, with the lines.
    """

    def __init__(self, fork_server: ForkServer, publish: Callable[[Job, object], None], where: bool = True) -> None:
        self.workers, self.publish, self.where = SpareWorkers(fork_server), publish, where
        self.changed = threading.Condition()
        self.waiting: Job | None = None
        self.busy = self.closed = False
        self.job: Job | None = None  # the one being graded, or graded last
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def take(self, job: Job) -> None:
        """Grade this job next, and cancel the one being graded."""
        with self.changed:
            self.waiting = job
            if self.busy:
                self.workers.cancel()
            self.changed.notify()

    def close(self) -> None:
        """Cancel what is being graded and end the thread."""
        with self.changed:
            self.closed = True
            self.workers.cancel()
            self.changed.notify()
        self.thread.join(timeout=3)

    def _run(self) -> None:
        with contextlib.suppress(Exception):  # the error comes again with the first job, which reports it
            from grader.desk import deferred_diagnosis  # heavy: torch

            gc.freeze()  # torch and pytest stay loaded, so the garbage collector need not visit them
        while (job := self._next()) is not None:
            try:
                from grader.desk import deferred_diagnosis

                settings = deferred_diagnosis.Settings(seed=job.seed)
                if isinstance(job.submission, str):
                    self._publish(deferred_diagnosis.unreadable(job.exercise, job.filename, job.submission, settings))
                    continue
                self.limits = deferred_diagnosis.limits_of(job.exercise, settings)
                submissions = self._submissions(job)
                deferred_diagnosis.grade_all(
                    job.exercise, submissions, self.workers, settings, self._publish, self._has_work, self.where
                )
            except Superseded:
                continue
            except Exception as error:  # the grader could not do its work; the next save is graded again
                self._publish(error)

    def _submissions(self, first: Job) -> Iterator[Submission]:
        """The submissions of one session of checks as they come, until another exercise is opened."""

        def fits(job: Job) -> bool:
            """Whether this session of checks can grade the job."""
            return (job.exercise, job.seed) == (first.exercise, first.seed) and not isinstance(job.submission, str)

        yield first.submission
        while (job := self._next(fits, idle=self._prepare)) is not None:
            yield job.submission

    def _next(
        self, fits: Callable[[Job], bool] = lambda job: True, idle: Callable[[], object] = gc.collect
    ) -> Job | None:
        """Wait for the next job, and call `idle()` once where none comes soon.

        Returns None where the job does not fit into this session, or the thread is to end.
        """
        with self.changed:
            self.busy = False
            has_work = self.changed.wait_for(self._has_work, IDLE_S)
        if not has_work:
            idle()
        with self.changed:
            self.changed.wait_for(self._has_work)
            job = self.waiting
            if self.closed or not fits(job):
                return None
            self.job, self.waiting, self.busy = job, None, True
            self.workers.begin()
            return job

    def _has_work(self) -> bool:
        """Whether a job waits, or the thread is to end."""
        return self.waiting is not None or self.closed

    def _prepare(self) -> None:
        """Use the time until the next save: fork the spare worker and collect garbage."""
        self.workers.prepare(self.limits)
        gc.collect()  # nothing else does: grader/__main__.py switched it off

    def _publish(self, result: object) -> None:
        self.publish(self.job, result)
