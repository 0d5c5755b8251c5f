"""Grades the submissions of a class in processes of this machine, and is such a process.

Both sides send lines of JSON. The first line says how to grade, and is answered once the sandbox is tested. Each later
line is a submission and is answered by its result. Successive submissions of one exercise share one session of checks.
"""

import contextlib
import gc
import json
import os
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from queue import SimpleQueue
from typing import Any, NoReturn, TextIO

from grader.catalog import paths
from grader.catalog.errors import InfrastructureError
from grader.classroom.store import write
from grader.records import interrupts
from grader.records.results import NOT_GRADED, Settings
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
TRIES = 2  # of one submission
STARTS = 4  # of a process that ends before it has tested its sandbox
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
    """The settings of the gradings. silence_s: a process that sends no result for so many seconds is replaced."""

    settings: Settings
    tier: str | None = None
    accept_tier: str | None = None
    silence_s: float = 200.0


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task: a record for the store, or the trouble because of which there is none."""

    task: Task
    record: str = ""
    status: str = ""
    trouble: str = ""


class Grader:
    """A grading process, which is replaced when it dies or hangs, so that no submission is lost.

    processor: the number of the only one that it and its workers may use, None for all.
    """

    def __init__(self, order: Order, processor: int | None = None) -> None:
        self.order, self.processor = order, processor
        self.sandbox: dict[str, Any] = {}  # empty until the process has tested it
        self.is_closed = False
        self._start()

    def wait(self) -> dict[str, Any]:
        """The sandbox, once the process has tested it. Raises InfrastructureError if it cannot grade."""
        reason = ""
        for _ in range(STARTS):
            if self.sandbox:
                return self.sandbox
            answer = self._ask(json.dumps(asdict(self.order)), START_S)
            if "refused" in answer:
                raise InfrastructureError(answer["refused"])
            self.sandbox, reason = answer.get("ready", {}), answer.get("failed", "")
        raise InfrastructureError(f"the grading processes end at once: {reason}. See: make doctor")

    def grade(self, task: Task) -> Outcome:
        """Grade a submission. One that fails is tried again. Raises InfrastructureError if nothing can be graded."""
        answer: dict[str, Any] = {}
        for _ in range(TRIES):
            self.wait()
            answer = self._ask(json.dumps(asdict(task)), self.order.silence_s)
            if "record" in answer:
                return Outcome(task, answer["record"], answer["status"])
        return Outcome(task, trouble=answer["failed"])

    def stop(self) -> None:
        """Ask nothing any more. Whoever waits for an answer in another thread gets none."""
        self.is_closed = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the process. One that does not end by itself is killed."""
        self.stop()
        try:
            self.process.wait(timeout=END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _start(self) -> None:
        self.sandbox = {}
        self.connection, job_end = socket.socketpair()
        self.answers = self.connection.makefile("r", encoding="utf-8")
        command = [sys.executable, "-c", START, str(paths.ROOT), str(job_end.fileno())]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(paths.ROOT)}
        with job_end, interrupts.hold_back():
            self.process = subprocess.Popen(
                command, pass_fds=[job_end.fileno()], env=environment, stdin=subprocess.DEVNULL
            )
        if self.processor is not None:
            with contextlib.suppress(OSError):  # it was taken from this process, or the child has ended
                os.sched_setaffinity(self.process.pid, {self.processor})

    def _ask(self, line: str, patience_s: float) -> dict[str, Any]:
        """The answer to a line. Without one, the process is replaced, and the answer is {"failed": why}."""
        self.connection.settimeout(patience_s)
        try:
            self.connection.sendall(line.encode() + b"\n")
            if answer := self.answers.readline():
                message: dict[str, Any] = json.loads(answer)
                return message
            status = self.process.wait(timeout=2)
            reason = f"the grading process ended ({f'signal {-status}' if status < 0 else f'exit code {status}'})"
        except TimeoutError:
            reason = f"the grading process said nothing for {patience_s:g} s"
        except (OSError, subprocess.TimeoutExpired):
            reason = "the connection to the grading process broke"
        if self.is_closed:
            raise InfrastructureError("the grading was stopped")
        self.connection.close()
        self.process.kill()
        self.process.wait()
        self._start()
        return {"failed": reason}


class Pool:
    """Grading processes, each with a thread that waits for it."""

    def __init__(self, order: Order, jobs: int) -> None:
        self.graders = [Grader(order, processor) for processor in processors_for(jobs)]

    def run(self, rows: Iterable[Iterable[Task]]) -> Iterator[Outcome]:
        """Grade every task of every row. Yields the outcomes as they come back.

        A process that stays with a row, which is of one exercise, reads the exercise once. Raises InfrastructureError.
        """
        waiting = [deque(row) for row in rows]
        outcomes: SimpleQueue[Outcome | Exception | None] = SimpleQueue()  # None: one process has nothing left to do

        def work(grader: Grader, number: int) -> None:
            try:
                for task in _in_turn(waiting, number):
                    outcomes.put(grader.grade(task))
                outcomes.put(None)
            except Exception as error:
                outcomes.put(error)

        for number, grader in enumerate(self.graders):
            threading.Thread(target=work, args=(grader, number), daemon=True).start()
        working = len(self.graders)
        while working:
            outcome = outcomes.get()
            if isinstance(outcome, Exception):
                raise outcome
            if outcome is None:
                working -= 1
            else:
                yield outcome

    def wait(self) -> dict[str, Any]:
        return self.graders[0].wait()

    def close(self) -> None:
        for grader in self.graders:
            grader.stop()
        for grader in self.graders:
            grader.close()


def _in_turn(rows: list[deque[Task]], number: int) -> Iterator[Task]:
    """The tasks for the process with this number: of a row of its own first, then what the others have left."""
    first = number % max(len(rows), 1)
    for row in (*rows[first:], *rows[:first]):
        with contextlib.suppress(IndexError):
            while True:
                yield row.popleft()


def processors_for(jobs: int) -> list[int] | list[None]:
    """The processor of each process where there is one for each, otherwise None for each.

    A grading process and its workers take turns. On two processors, one would sleep at each turn, and wake slowly.
    """
    available = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return available if len(available) == jobs else [None] * jobs


def work(descriptor: int) -> NoReturn:
    """Be a grading process: grade until the other side closes the connection. descriptor: of the socket to it."""
    connection = socket.socket(fileno=descriptor)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        interrupts.let_through()
        _serve(connection.makefile("r", encoding="utf-8"), connection.makefile("w", encoding="utf-8"))
    sys.stdout.flush()
    os._exit(0)  # the ordinary end of torch takes a tenth of a second


def _serve(lines: TextIO, answers: TextIO) -> None:
    def send(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    first = next(lines, "")
    if not first:  # the others had graded all before this process was given its order
        return
    order = json.loads(first)
    settings = Settings(**order["settings"])
    gc.disable()  # which saves a tenth of the time that the imports take
    with ForkServer(settings.device, order["tier"]) as fork_server, contextlib.ExitStack() as session:
        from grader import catalog
        from grader.judge.grading import Grading  # heavy: torch, imported while the fork server imports it too
        from grader.records import containment

        gc.freeze()  # modules stay loaded, so the garbage collector need not visit them
        gc.enable()
        try:
            send({"ready": asdict(fork_server.demand(order["accept_tier"]))})
        except InfrastructureError as error:
            return send({"refused": str(error)})
        grading: Grading | None = None
        for line in lines:
            task = json.loads(line)
            try:
                if grading is None or grading.exercise.folder != task["exercise"]:
                    session.close()
                    grading = Grading(catalog.read(task["exercise"]), fork_server, settings)
                    session.enter_context(grading)
                result = grading.result(Submission(task["source"], task["filename"], tuple(task["notes"])))
                is_graded = result.status != NOT_GRADED
                answer = {"status": result.status, "record": write(result)} if is_graded else {"failed": result.message}
            except Exception as error:
                answer, grading = {"failed": containment.reason(error)}, None
            send(answer)
