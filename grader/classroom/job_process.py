"""A grading process as the process of the class sees it: the other end of grader.classroom.job."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from grader.catalog import paths
from grader.classroom.tasks import Order, Task

END_S = 3  # seconds that a process without work may take to end
# Python would search the working folder for modules first, where a hand-in may be called torch.py.
START = """
import sys
sys.path[0] = sys.argv.pop(1)
import runpy
runpy.run_module("grader.classroom.job", run_name="__main__")
"""


class JobProcess:
    """A grading process. row: the tasks of the exercise that it grades; tasks: those that it has now.

    ready: it has tested its sandbox; heard_at: when it last sent a message (seconds of time.monotonic); spent: its
    processor time so far, as Job.spent gives it; processor: the number of the only one that it and its workers may use,
    None for all.
    """

    def __init__(self, order: Order, processor: int | None = None) -> None:
        self.processor = processor
        self.connection, job_end = socket.socketpair()
        command = [sys.executable, "-c", START, str(paths.ROOT), str(job_end.fileno())]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(paths.ROOT)}
        self.process = subprocess.Popen(command, pass_fds=[job_end.fileno()], env=environment, stdin=subprocess.DEVNULL)
        job_end.close()
        if processor is not None:
            with contextlib.suppress(OSError):  # it was taken from this process, or the child has ended
                os.sched_setaffinity(self.process.pid, {processor})
        self.heard_at = time.monotonic()
        self.ready = False
        self.spent: dict[str, float] = {}
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
