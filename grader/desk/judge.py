"""Grades in a thread of its own, with everything kept warm: the nursery, the next worker and the checks."""

import contextlib
import gc
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from grader.catalog import Exercise
from grader.desk.warm import Superseded, Warm
from grader.nursery import Nursery
from grader.submission import Submission

IDLE_S = 0.05  # after a verdict, before the next worker is forked: the verdict is shown first


@dataclass(frozen=True)
class Job:
    """One file to grade. `handed_in`: the submission, or the words why there is none."""

    number: int
    exercise: Exercise
    handed_in: Submission | str
    filename: str
    seed: int
    attempt: bool = True  # False for the first look at an exercise


class Judge:
    """Takes jobs, grades the newest alone, and calls `tell(job, result or exception)` from its thread.

    A failed verdict is told twice: at once, and again with the likely causes.
    """

    def __init__(self, nursery: Nursery, tell: Callable[[Job, object], None]):
        self.warm, self.tell = Warm(nursery), tell
        self.changed = threading.Condition()
        self.waiting: Job | None = None
        self.busy = self.closed = False
        self.job: Job | None = None  # the one being graded, or graded last
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def take(self, job: Job) -> None:
        """Grade this one next. What is being graded now is given up."""
        with self.changed:
            self.waiting = job
            if self.busy:
                self.warm.give_up()
            self.changed.notify()

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.warm.give_up()
            self.changed.notify()
        self.thread.join(timeout=3)

    def _run(self) -> None:
        with contextlib.suppress(Exception):  # it comes again, with somebody to tell it to
            from grader.desk import promptly  # heavy: torch

            gc.freeze()  # torch and pytest stay: no need to look through them again
        while (job := self._next()) is not None:
            try:
                from grader.desk import promptly

                settings = promptly.Settings(seed=job.seed)
                if isinstance(job.handed_in, str):
                    self._told(promptly.unreadable(job.exercise, job.filename, job.handed_in, settings))
                    continue
                self.limits = promptly.limits_of(job.exercise, settings)
                submissions = self._submissions(job)
                promptly.grade_all(job.exercise, submissions, self.warm, settings, self._told, self._someone_waits)
            except Superseded:
                continue
            except Exception as error:  # the grader could not do its work; the next save is tried again
                self._told(error)

    def _submissions(self, first: Job) -> Iterator[Submission]:
        """The files of one session of checks, as they come; it ends when another exercise is opened."""

        def fits(job: Job) -> bool:
            known = (first.exercise, first.seed)
            return (job.exercise, job.seed) == known and not isinstance(job.handed_in, str)

        yield first.handed_in
        while (job := self._next(fits, idle=self._prepare)) is not None:
            yield job.handed_in

    def _next(self, fits: Callable[[Job], bool] = lambda job: True, idle: Callable = gc.collect) -> Job | None:
        """Wait for the next job; `idle()` once where none comes soon.

        None: the job does not fit in this session, or there will be none.
        """
        with self.changed:
            self.busy = False
            hurried = self.changed.wait_for(self._someone_waits, IDLE_S)
        if not hurried:
            idle()
        with self.changed:
            self.changed.wait_for(self._someone_waits)
            job = self.waiting
            if self.closed or not fits(job):
                return None
            self.job, self.waiting, self.busy = job, None, True
            self.warm.begin()
            return job

    def _someone_waits(self) -> bool:
        return self.waiting is not None or self.closed

    def _prepare(self) -> None:
        self.warm.prepare(self.limits)
        gc.collect()  # nothing else does: grader/__main__.py switched it off

    def _told(self, result: object) -> None:
        self.tell(self.job, result)
