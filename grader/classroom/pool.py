"""The grading processes of this machine. No submission is lost with a process.

A process that dies or hangs is replaced, and its submissions are given to another process, once.
"""

import json
import os
import selectors
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field

from grader.catalog import paths
from grader.catalog.errors import InfrastructureError
from grader.classroom.tasks import Order, Outcome, Task

IN_HAND = 2  # submissions that a process has at a time, so that the next is ready when one is done
TRIES = 2  # of one submission
START_S = 240.0  # seconds: torch is imported twice, maybe from a cold disk on a busy machine
# Python would search the working folder for modules first, where a hand-in may be called torch.py.
START = """
import sys
sys.path[0] = sys.argv.pop(1)
import runpy
runpy.run_module("grader.classroom.job", run_name="__main__")
"""


@dataclass(eq=False)
class Job:
    """A grading process and the submissions that it has."""

    process: subprocess.Popen
    connection: socket.socket
    since: float
    ready: bool = False
    row: Iterator[Task] | None = None
    buffer: bytearray = field(default_factory=bytearray)
    in_hand: deque[Task] = field(default_factory=deque)


class Pool:
    """`jobs` processes. Use as a context manager; `run` grades all."""

    def __init__(self, order: Order, jobs: int):
        self.order, self.sandbox = order, None
        self.selector = selectors.DefaultSelector()
        self.jobs: list[Job] = []
        self.rows: list[Iterator[Task]] = []
        self.again: deque[Task] = deque()
        self.tries: dict[str, int] = {}
        self.deaths = 0
        for _ in range(jobs):
            self._start()

    def run(self, rows: Iterable[Iterator[Task]], record: Callable[[Outcome], None]) -> None:
        """Grade every task of every row; `record` is called for each, in the order in which they come back.

        A row holds the submissions of one exercise: a process that stays with it has all at hand.
        Raises InfrastructureError where nothing can be graded: no sandbox, processes that die at once.
        """
        self.rows = [iter(row) for row in rows]
        while True:
            while (job := self._idle()) is not None and (task := self._next(job)) is not None:
                self._give(job, task)
            if not self.rows and not self.again and not any(job.in_hand for job in self.jobs):
                return
            for outcome in self._listen():
                record(outcome)

    def wait(self) -> dict:
        """The sandbox that the first ready process tried out."""
        while self.sandbox is None:
            list(self._listen())
        return self.sandbox

    def close(self) -> None:
        for job in self.jobs:
            job.connection.close()
        for job in self.jobs:
            job.process.kill() if job.in_hand else None
            try:
                job.process.wait(timeout=3)
            except subprocess.TimeoutExpired:
                job.process.kill()
                job.process.wait()
        self.jobs.clear()

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-c", START, str(paths.ROOT), str(theirs.fileno())]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(paths.ROOT)}
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL)
        theirs.close()
        job = Job(process, ours, time.monotonic())
        self.jobs.append(job)
        self.selector.register(ours, selectors.EVENT_READ, job)
        self._send(job, self.order.line)

    def _next(self, job: Job) -> Task | None:
        """A task for a process: of its own row, otherwise of a row without a process, otherwise of any."""
        if self.again:
            return self.again.popleft()
        while self.rows:
            if job.row not in self.rows:
                occupied = [other.row for other in self.jobs]
                job.row = next((row for row in self.rows if row not in occupied), self.rows[0])
            task = next(job.row, None)
            if task is not None:
                return task
            self.rows.remove(job.row)
        return None

    def _idle(self) -> Job | None:
        """The process with the fewest submissions, or None where none can take another."""
        free = [job for job in self.jobs if len(job.in_hand) < (IN_HAND if job.ready else 1)]
        return min(free, key=lambda job: len(job.in_hand), default=None)

    def _give(self, job: Job, task: Task) -> None:
        if not job.in_hand:
            job.since = time.monotonic()
        job.in_hand.append(task)
        self._send(job, json.dumps(asdict(task)))

    def _send(self, job: Job, line: str) -> None:
        try:
            job.connection.sendall(line.encode() + b"\n")
        except OSError:
            pass  # it has ended, which `_listen` will notice

    def _listen(self) -> Iterator[Outcome]:
        for key, _ in self.selector.select(timeout=1.0):
            job = key.data
            try:
                data = job.connection.recv(1 << 20)
            except OSError:
                data = b""
            if not data:
                yield from self._lost(job, f"the grading process ended ({_how(job.process)})")
                continue
            job.buffer += data
            *lines, rest = job.buffer.split(b"\n")
            job.buffer = bytearray(rest)
            for line in lines:
                yield from self._heard(job, json.loads(line))
        for job in list(self.jobs):
            patience = self.order.silence_s if job.ready else START_S
            if (job.in_hand or not job.ready) and time.monotonic() - job.since > patience:
                yield from self._lost(job, f"the grading process said nothing for {patience:g} s")

    def _heard(self, job: Job, message: dict) -> Iterator[Outcome]:
        job.since = time.monotonic()
        if "refused" in message:
            raise InfrastructureError(message["refused"])
        if "ready" in message:
            job.ready, self.sandbox = True, self.sandbox or message["ready"]
            return
        task = job.in_hand.popleft()
        if task.key != message["key"]:
            raise InfrastructureError("a grading process answered for another submission")
        self.deaths = 0
        if "failed" in message:
            yield from self._try_again(task, message["failed"])
        else:
            yield Outcome(task, message["record"], message["status"])

    def _lost(self, job: Job, reason: str) -> Iterator[Outcome]:
        """Replace a process. Only the first of its submissions can have caused its end."""
        self.selector.unregister(job.connection)
        job.connection.close()
        job.process.kill()
        job.process.wait()
        self.jobs.remove(job)
        self.deaths += 1
        if self.deaths > 3 + 2 * TRIES and not job.ready:
            raise InfrastructureError(f"the grading processes end at once: {reason}. See: make doctor")
        first, *others = job.in_hand or [None]
        self.again.extendleft(reversed(others))
        if first is not None:
            yield from self._try_again(first, reason)
        self._start()

    def _try_again(self, task: Task, reason: str) -> Iterator[Outcome]:
        self.tries[task.key] = self.tries.get(task.key, 0) + 1
        if self.tries[task.key] < TRIES:
            self.again.append(task)
        else:
            yield Outcome(task, trouble=reason)


def _how(process: subprocess.Popen) -> str:
    try:
        status = process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        return "its connection broke"
    return f"signal {-status}" if status < 0 else f"exit code {status}"
