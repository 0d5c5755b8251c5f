"""Distributes the submissions of a class over grading processes of this machine, and is such a process.

A process that dies or hangs is replaced, and its submissions are given to another process, so that none is lost. Both
sides send lines of JSON. The first line says how to grade. Each later line is a submission and is answered by one line.
Successive submissions of the same exercise share one session of checks.
"""

import contextlib
import gc
import json
import os
import selectors
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NoReturn, TextIO

from grader.catalog import Exercise, paths
from grader.catalog.errors import InfrastructureError
from grader.classroom.store import write
from grader.records import interrupts
from grader.records.results import NOT_GRADED, ExerciseResult, Settings
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer

END_S = 3  # seconds that a process without work may take to end
# Python would search the working folder for modules first, where a hand-in may be called torch.py.
START = """
import sys
sys.path[0] = sys.argv.pop(1)
from grader.classroom import pool
pool.work(int(sys.argv[1]))
"""
ASSIGNED = 2  # submissions that a process has at a time, so that the next is ready when one is done
TRIES = 2  # of one submission
START_S = 240.0  # seconds: torch is imported twice, maybe from a slow disk on a busy machine


@dataclass(frozen=True)
class Task:
    """One submission to grade. key: that of its result in the store."""

    key: str
    exercise: str
    source: str
    filename: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Order:
    """The settings of the gradings. silence_s: a process that sends no message for so many seconds is replaced."""

    settings: Settings
    tier: str | None = None
    accept_tier: str | None = None
    silence_s: float = 200.0

    @property
    def line(self) -> str:
        """The order as one line of JSON."""
        order = {"device": self.settings.device, "tier": self.tier, "accept_tier": self.accept_tier}
        return json.dumps(order | {"settings": asdict(self.settings)})


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task: a record for the store, or the trouble because of which there is none."""

    task: Task
    record: str = ""
    status: str = ""
    trouble: str = ""


class JobProcess:
    """A grading process. row: the tasks of the exercise that it grades; tasks: those that it has now.

    ready: it has tested its sandbox; heard_at: when it last sent a message (seconds of time.monotonic); processor:
    the number of the only one that it and its workers may use, None for all.
    """

    def __init__(self, order: Order, processor: int | None = None) -> None:
        self.processor = processor
        self.connection, job_end = socket.socketpair()
        command = [sys.executable, "-c", START, str(paths.ROOT), str(job_end.fileno())]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(paths.ROOT)}
        with interrupts.hold_back():
            self.process = subprocess.Popen(
                command, pass_fds=[job_end.fileno()], env=environment, stdin=subprocess.DEVNULL
            )
        job_end.close()
        if processor is not None:
            with contextlib.suppress(OSError):  # it was taken from this process, or the child has ended
                os.sched_setaffinity(self.process.pid, {processor})
        self.heard_at = time.monotonic()
        self.ready = False
        self.row: Iterator[Task] | None = None
        self.tasks: deque[Task] = deque()
        self.buffer = bytearray()
        self._send(order.line)

    def assign(self, task: Task) -> None:
        """Give the process one more task."""
        if not self.tasks:
            self.heard_at = time.monotonic()  # before, it had nothing to say
        self.tasks.append(task)
        self._send(json.dumps(asdict(task)))

    def messages(self) -> list[dict[str, Any]] | None:
        """The messages that have arrived; None where the process has ended. Waits for the first bytes."""
        try:
            data = self.connection.recv(1 << 20)
        except OSError:
            data = b""
        if not data:
            return None
        self.buffer += data
        *lines, unfinished_line = self.buffer.split(b"\n")
        self.buffer = bytearray(unfinished_line)
        return [json.loads(line) for line in lines]

    def end(self) -> None:
        """Wait for the end of the process, whose connection is closed. One with work or without an end is killed."""
        if self.tasks:
            self.process.kill()
        try:
            self.process.wait(timeout=END_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.wait()

    def cause_of_end(self) -> str:
        """How a process that closed its connection ended, in words."""
        try:
            status = self.process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return "its connection broke"
        return f"signal {-status}" if status < 0 else f"exit code {status}"

    def _send(self, line: str) -> None:
        """Send a line. A process that has ended is noticed when its messages are read."""
        try:
            self.connection.sendall(line.encode() + b"\n")
        except OSError:
            pass


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
        for processor in processors_for(jobs):
            self._start(processor)

    def run(self, rows: Iterable[Iterator[Task]]) -> Iterator[Outcome]:
        """Grade every task of every row. Yields the outcomes in the order in which they come back.

        A row holds the submissions of one exercise; a process that stays with its row reads the exercise only once.
        Raises InfrastructureError if nothing can be graded: without a sandbox, or if processes die at once.
        """
        self.rows = [iter(row) for row in rows]
        while True:
            while (job := self._idle()) is not None and (task := self._next(job)) is not None:
                job.assign(task)
            if not self.rows and not self.returned and not any(job.tasks for job in self.jobs):
                return
            yield from self._listen()

    def wait(self) -> dict[str, Any]:
        """The sandbox, once a process has tested it."""
        while self.sandbox is None:
            list(self._listen())
        return self.sandbox

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
        self.deaths = 0
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
        self.deaths += 1
        if self.deaths > 3 + 2 * TRIES and not job.ready:
            raise InfrastructureError(f"the grading processes end at once: {reason}. See: make doctor")
        failed_task = job.tasks.popleft() if job.tasks else None
        self.returned.extendleft(reversed(job.tasks))
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


def work(descriptor: int) -> NoReturn:
    """Be a grading process: grade until the other side closes the connection. descriptor: of the socket to it."""
    connection = socket.socket(fileno=descriptor)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        interrupts.let_through()
        Job(connection.makefile("r", encoding="utf-8"), connection.makefile("w", encoding="utf-8")).run()
    sys.stdout.flush()
    os._exit(0)  # the ordinary end of torch takes a tenth of a second


class Job:
    """The work of one process, as it does it. task: the submission that is being graded."""

    def __init__(self, lines: TextIO, answers: TextIO) -> None:
        self.lines, self.answers = lines, answers
        self.task: dict[str, Any] | None = None

    def run(self) -> None:
        """Grade one task after the other until no more come."""
        order = json.loads(next(self.lines))
        gc.disable()  # which saves a tenth of the time that the imports take
        with ForkServer(order["device"], order["tier"]) as fork_server:
            from grader import catalog
            from grader.judge import grading  # heavy: torch, imported while the fork server imports it too
            from grader.records import containment

            gc.freeze()  # modules stay loaded, so the garbage collector need not visit them
            gc.enable()
            try:
                sandbox = fork_server.demand(order["accept_tier"])
            except InfrastructureError as error:
                return self.send({"refused": str(error)})
            self.send({"ready": asdict(sandbox)})
            self.fork_server = fork_server
            settings = Settings(**order["settings"])
            self.task = self.next()
            while self.task is not None:
                exercise = catalog.read(self.task["exercise"])
                try:
                    for result in grading.results(exercise, self.row(exercise), fork_server, settings):
                        self.record(result)
                except OSError:
                    raise  # the parent process has ended
                except Exception as error:
                    self.send({"key": self.task["key"], "failed": containment.reason(error)})
                    self.task = self.next()

    def row(self, exercise: Exercise) -> Iterator[Submission]:
        """The next submissions of this exercise. Of equal files the class sends one."""
        while self.task is not None and self.task["exercise"] == exercise.folder:
            yield Submission(self.task["source"], self.task["filename"], tuple(self.task["notes"]))
            self.task = self.next()

    def record(self, result: ExerciseResult) -> None:
        """Send the result of the current task."""
        assert self.task is not None
        if result.status == NOT_GRADED:
            return self.send({"key": self.task["key"], "failed": result.message})
        self.send({"key": self.task["key"], "status": result.status, "record": write(result)})

    def next(self) -> dict[str, Any] | None:
        """The next task, or None at the end."""
        line = next(self.lines, None)
        return None if line is None else json.loads(line)

    def send(self, message: dict[str, Any]) -> None:
        """Send one line of JSON."""
        self.answers.write(json.dumps(message) + "\n")
        self.answers.flush()
