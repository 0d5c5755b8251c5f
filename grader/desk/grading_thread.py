"""The exercise that is watched: how its saves are seen, and the thread that grades it.

The thread keeps the checks ready. An event is only a reason to read the file: its content decides. So events may come
twice, late or for another file, and where none come, as on a network drive, reading it often does as well.
"""

import contextlib
import gc
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from grader.catalog import Exercise, paths
from grader.catalog.errors import BadSubmission, InfrastructureError, NoSuchFile
from grader.catalog.exercise import Limits
from grader.desk import hints, lesson, progress
from grader.records import containment, submission
from grader.records.results import PASSED, ExerciseResult, Settings, ungraded
from grader.records.source import outline
from grader.records.submission import Submission, Unreadable
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.worker_handle import Worker

IDLE_S = 0.05  # seconds between a verdict, which is shown first, and the collection of garbage
STEP_MS, GROUP_MS = 5, 50  # events less than STEP_MS apart count as one save, for GROUP_MS at most
READ_S = 0.2  # seconds after which the file is read without an event; it takes a fifth of a millisecond
SETTLE_S = 0.12  # seconds for which doubtful content must be stable


@dataclass(frozen=True)
class Job:
    """One file to grade."""

    exercise: Exercise
    handed_in: Submission | Unreadable
    seed: int
    attempt: bool = True  # False for the first grading when an exercise is opened: it closes no page


class GradingThread:
    """Takes jobs, grades only the newest, and calls `publish(job, result)` from its thread.

    A failed verdict is published up to three times: at once, with the likely causes, and with the lines.
    """

    def __init__(self, fork_server: ForkServer, publish: Callable[[Job, ExerciseResult], None]) -> None:
        self.workers, self.publish = Workers(fork_server), publish
        self.changed = threading.Condition()
        self.waiting: Job | None = None
        self.busy = self.closed = False
        self.job: Job  # the one being graded, or graded last
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
            from grader.judge import grading  # noqa: F401  # heavy: torch

            gc.freeze()  # torch and pytest stay loaded, so the garbage collector need not visit them
        while (job := self._next()) is not None:
            settings = Settings(seed=job.seed, where=True)
            try:
                self._grade(job, settings)
            except Exception as error:  # the grader could not do its work; the next save is graded again
                reason = containment.reason(error)
                self.publish(self.job, ungraded(job.exercise, job.handed_in.filename, reason, settings))

    def _grade(self, first: Job, settings: Settings) -> None:
        """Grade jobs with one session of checks, until another exercise is opened."""
        from grader.judge.grading import Grading

        def fits(job: Job) -> bool:
            """Whether this session of checks can grade the job."""
            return (job.exercise, job.seed) == (first.exercise, first.seed)

        job: Job | None = first
        with Grading(first.exercise, self.workers, settings) as grading:
            while job is not None:
                for event in grading.grade(job.handed_in, self._has_work):
                    if isinstance(event, ExerciseResult):
                        self.publish(job, event)
                job = self._next(fits)

    def _next(self, fits: Callable[[Job], bool] = lambda job: True) -> Job | None:
        """The next job, once it is there; None where it does not fit into this session, or the thread is to end."""
        with self.changed:
            self.busy = False
            has_work = self.changed.wait_for(self._has_work, IDLE_S)
        if not has_work:
            gc.collect()  # nothing else does: grader/__main__.py switched it off
        with self.changed:
            self.changed.wait_for(self._has_work)
            job = self.waiting
            if self.closed or job is None or not fits(job):
                return None
            self.job, self.waiting, self.busy = job, None, True
            self.workers.begin()
            return job

    def _has_work(self) -> bool:
        """Whether a job waits, or the thread is to end."""
        return self.waiting is not None or self.closed


class Watched:
    """One exercise from the moment it is opened until another one is. The inputs stay the same until then.

    result: the verdict that is shown, None before the first; when: its time of day; is_passed: now or before.
    tried: the last verdict whose checks were run, so that a syntax error does not lead back to the first task.
    hint, every, note: a hint to show, whether to show every check, a message to show once.
    """

    def __init__(self, exercise: Exercise, grading: GradingThread) -> None:
        self.exercise, self.grading = exercise, grading
        self.seed = secrets.randbelow(1_000_000)
        self.file = StableFile(paths.stub(exercise.folder))
        self.job: Job | None = None  # the newest
        self.shown: Job | None = None  # the one whose verdict is shown
        self.submitted_at: float | None = None  # of time.monotonic; None where nothing is being graded
        self.result: ExerciseResult | None = None
        self.tried = progress.last(exercise.folder)
        self.when = self.note = ""
        self.is_passed = progress.state(exercise.folder).done
        self.hint: hints.Hint | None = None
        self.every = False

    @property
    def task(self) -> lesson.Task | None:
        """The first task that is not done; None where all are."""
        return lesson.current(self.exercise.folder, self.tried)

    @property
    def seconds(self) -> float:
        """For how long a grading has been in progress; 0 where none is."""
        return 0.0 if self.submitted_at is None else time.monotonic() - self.submitted_at

    def grade(self, attempt: bool) -> None:
        """Grade the content of the file that was accepted last."""
        assert self.file.accepted is not None
        self.job = Job(self.exercise, self.file.accepted, self.seed, attempt)
        self.submitted_at = time.monotonic()
        self.grading.take(self.job)

    def is_first(self, job: Job) -> bool:
        """Note that a verdict came. Returns whether it is the job's first: more come with likely causes and lines."""
        self.submitted_at = None
        return self.shown is not job

    def take(self, job: Job, result: ExerciseResult) -> None:
        """Keep a verdict as the one that is shown, and record it."""
        self.when = self.when if self.shown is job else time.strftime("%H:%M:%S")
        self.result, self.shown = result, job
        self.tried = result if result.tried else self.tried
        self.is_passed = self.is_passed or result.status == PASSED
        if self.hint and (self.task is None or self.task.number != self.hint.task):
            self.hint = None  # that task is done
        progress.note(result, attempt=False)  # a save is no try: who saves often would read a reproach


class Superseded(InfrastructureError):
    """The grading was cancelled because a newer file waits. No check catches an InfrastructureError."""


class Workers:
    """Provides one grading after the other with workers, as a fork server does, until it is cancelled."""

    def __init__(self, fork_server: ForkServer) -> None:
        self.fork_server, self.server_for = fork_server, fork_server.server_for
        self.begin()

    def begin(self) -> None:
        """Begin another grading."""
        self.cancelled, self.spawned = False, list[Worker]()

    def spawn(self, limits: Limits) -> Worker:
        """A new worker. Raises Superseded once the grading was cancelled."""
        if self.cancelled:
            raise Superseded
        worker = self.fork_server.spawn(limits)
        self.spawned.append(worker)
        if self.cancelled:
            worker.close()
            raise Superseded
        return worker

    def cancel(self) -> None:
        """End the grading in progress, from another thread, even where the learner's code hangs."""
        self.cancelled = True
        for worker in self.spawned:
            if worker.alive:
                with contextlib.suppress(OSError):
                    os.kill(worker.pid, signal.SIGKILL)
                with contextlib.suppress(OSError):
                    worker.connection.shutdown(socket.SHUT_RDWR)


def listen(folder: Path, notify: Callable[[], None], stop: threading.Event) -> None:
    """Call `notify()` after every save below a folder, until `stop` is set. Without events it ends at once."""
    with contextlib.suppress(Exception):  # the system may have no watches left
        import watchfiles

        for _ in watchfiles.watch(
            folder, watch_filter=None, debounce=GROUP_MS, step=STEP_MS, stop_event=stop, force_polling=False
        ):
            notify()


class Absent(Unreadable):
    """There is no such file. The reason says what to type."""


class StableFile:
    """A file that a learner works on, read once it is whole.

    Some editors write in pieces, some write another file and rename it, some delete the old one first. So content that
    is absent, empty or broken is accepted only once it has been stable for a moment. A piece that happens to be valid
    Python is graded, and its verdict is replaced by that on the complete file.

    accepted: the content that was accepted last; doubtful: content that must still prove stable, and since when it is
    there (seconds of time.monotonic).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.accepted: Submission | Unreadable | None = None
        self.doubtful: tuple[float, Submission | Unreadable] | None = None

    def read_new(self, settle: bool = True) -> Submission | Unreadable | None:
        """New content of the file, or None. settle: wait until content that may be partial is stable."""
        content = _read(self.path)
        if content == self.accepted:
            self.doubtful = None
            return None
        now = time.monotonic()
        if settle and _may_be_partial(content):
            if self.doubtful is None or self.doubtful[1] != content:
                self.doubtful = now, content
            if now - self.doubtful[0] < SETTLE_S:
                return None
        self.accepted, self.doubtful = content, None
        return content


def _read(path: Path) -> Submission | Unreadable:
    """The present content of a file."""
    name = paths.shown(path)
    try:
        return submission.attempt(partial(submission.read, path), name)
    except NoSuchFile as error:
        return Absent(name, str(error))


def _may_be_partial(content: Submission | Unreadable) -> bool:
    """Whether an editor may still be writing this."""
    try:
        return isinstance(content, Unreadable) or not outline(content.source)["depth"]
    except BadSubmission:
        return False
