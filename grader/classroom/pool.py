"""Distributes the submissions of a class over grading processes of this machine.

A process that dies or hangs is replaced, and its submissions are given to another process, so that none is lost.
"""

import os
import selectors
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from grader.catalog.errors import InfrastructureError
from grader.classroom.job_process import JobProcess
from grader.classroom.tasks import Order, Outcome, Task

ASSIGNED = 2  # submissions that a process has at a time, so that the next is ready when one is done
TRIES = 2  # of one submission
START_S = 240.0  # seconds: torch is imported twice, maybe from a slow disk on a busy machine


class Pool:
    """Grading processes, used as a context manager.

    jobs: how many; sandbox: as the first ready process tested it, None before.
    """

    def __init__(self, order: Order, jobs: int) -> None:
        self.order = order
        self.sandbox: dict[str, Any] | None = None
        self.selector = selectors.DefaultSelector()
        self.jobs: list[JobProcess] = []
        self.rows: list[Iterator[Task]] = []
        self.returned: deque[Task] = deque()  # of processes that ended
        self.failures: dict[str, int] = {}  # by the key of the task
        self.deaths = 0  # of processes since the last result
        self.spent: Counter[str] = Counter()  # the processor time of processes that were replaced
        for processor in processors_for(jobs):
            self._start(processor)

    def run(self, rows: Iterable[Iterator[Task]], record: Callable[[Outcome], None]) -> None:
        """Grade every task of every row; `record` is called for each, in the order in which they come back.

        A row holds the submissions of one exercise; a process that stays with its row reads the exercise only once.
        Raises InfrastructureError where nothing can be graded: without a sandbox, or where processes die at once.
        """
        self.rows = [iter(row) for row in rows]
        while True:
            while (job := self._idle()) is not None and (task := self._next(job)) is not None:
                job.assign(task)
            if not self.rows and not self.returned and not any(job.tasks for job in self.jobs):
                return
            for outcome in self._listen():
                record(outcome)

    def wait(self) -> dict[str, Any]:
        """The sandbox, once a process has tested it."""
        while self.sandbox is None:
            list(self._listen())
        return self.sandbox

    def all_spent(self) -> dict[str, float]:
        """The processor time of all processes so far, as Job.spent gives it."""
        spent = self.spent.copy()
        for job in self.jobs:
            spent.update(job.spent)
        return dict(spent)

    def close(self) -> None:
        """End all processes."""
        for job in self.jobs:
            job.connection.close()
        for job in self.jobs:
            job.end()
        self.jobs.clear()

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, processor: int | None) -> None:
        """Start one more process."""
        job = JobProcess(self.order, processor)
        self.jobs.append(job)
        self.selector.register(job.connection, selectors.EVENT_READ, job)

    def _next(self, job: JobProcess) -> Task | None:
        """A task for a process: of its own row, otherwise of a row without a process, otherwise of any row."""
        if self.returned:
            return self.returned.popleft()
        while self.rows:
            if job.row not in self.rows:
                occupied = [busy_job.row for busy_job in self.jobs]
                job.row = next((row for row in self.rows if row not in occupied), self.rows[0])
            task = next(job.row, None)
            if task is not None:
                return task
            self.rows.remove(job.row)
        return None

    def _idle(self) -> JobProcess | None:
        """The process with the fewest submissions, or None where none can take another."""
        idle = [job for job in self.jobs if len(job.tasks) < (ASSIGNED if job.ready else 1)]
        return min(idle, key=lambda job: len(job.tasks), default=None)

    def _listen(self) -> Iterator[Outcome]:
        """Wait for messages, at most one second, and replace processes that ended or are silent for too long."""
        for key, _ in self.selector.select(timeout=1.0):
            job: JobProcess = key.data
            messages = job.messages()
            if messages is None:
                yield from self._replace(job, f"the grading process ended ({job.cause_of_end()})")
                continue
            for message in messages:
                yield from self._handle(job, message)
        for job in list(self.jobs):
            patience_s = self.order.silence_s if job.ready else START_S
            if (job.tasks or not job.ready) and time.monotonic() - job.heard_at > patience_s:
                yield from self._replace(job, f"the grading process said nothing for {patience_s:g} s")

    def _handle(self, job: JobProcess, message: dict[str, Any]) -> Iterator[Outcome]:
        """Take one message of a process."""
        job.heard_at = time.monotonic()
        if "refused" in message:
            raise InfrastructureError(message["refused"])
        if "ready" in message:
            job.ready, self.sandbox = True, self.sandbox or message["ready"]
            return
        task = job.tasks.popleft()
        if task.key != message["key"]:
            raise InfrastructureError("a grading process answered for another submission")
        self.deaths, job.spent = 0, message.get("spent", job.spent)
        if "failed" in message:
            yield from self._try_again(task, message["failed"])
        else:
            yield Outcome(task, message["record"], message["status"])

    def _replace(self, job: JobProcess, reason: str) -> Iterator[Outcome]:
        """Replace a process. Only the first of its submissions can have caused its end."""
        self.selector.unregister(job.connection)
        job.connection.close()
        job.kill()
        self.jobs.remove(job)
        self.spent.update(job.spent)
        self.deaths += 1
        if self.deaths > 3 + 2 * TRIES and not job.ready:
            raise InfrastructureError(f"the grading processes end at once: {reason}. See: make doctor")
        failed_task, *other_tasks = job.tasks or [None]
        self.returned.extendleft(reversed(other_tasks))
        if failed_task is not None:
            yield from self._try_again(failed_task, reason)
        self._start(job.processor)

    def _try_again(self, task: Task, reason: str) -> Iterator[Outcome]:
        """Grade a task again, unless it has failed TRIES times."""
        self.failures[task.key] = self.failures.get(task.key, 0) + 1
        if self.failures[task.key] < TRIES:
            self.returned.append(task)
        else:
            yield Outcome(task, trouble=reason)


def processors_for(jobs: int) -> list[int] | list[None]:
    """The processor of each process where there is one for each, otherwise None for each.

    A grading process and its workers take turns. On two processors, one of the two would sleep at each turn, and its
    waking takes a good part of a short turn. Where processors are left over, the system places the processes better.
    """
    available = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return available if len(available) == jobs else [None] * jobs
