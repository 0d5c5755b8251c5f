"""One grading process: receives submissions from the process of the class and returns their results.

START of pool.py, with ROOT and FD        the grader's folder; the descriptor of the socket to the parent

Both sides send lines of JSON. The first line says how to grade. Each later line is a submission and is answered by one
line. Successive submissions of the same exercise share one session of checks.
"""

import gc
import json
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, TextIO

from grader.catalog import Exercise
from grader.catalog.errors import InfrastructureError
from grader.classroom.store import written
from grader.records.results import NOT_GRADED, ExerciseResult, Settings
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer


def main(connection: socket.socket) -> None:
    """Grade until the other side closes the connection."""
    lines, answers = connection.makefile("r", encoding="utf-8"), connection.makefile("w", encoding="utf-8")
    Job(lines, answers).run()


class Job:
    """The work of one process. task: the submission that is being graded."""

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
        """The next submissions of this exercise. Of equal files the class sends one: see ledger.Ledger.key."""
        while self.task is not None and self.task["exercise"] == exercise.folder:
            yield Submission(self.task["source"], self.task["filename"], tuple(self.task["notes"]))
            self.task = self.next()

    def record(self, result: ExerciseResult) -> None:
        """Send the result of the current task."""
        assert self.task is not None
        if result.status == NOT_GRADED:
            return self.send({"key": self.task["key"], "failed": result.message})
        self.send({"key": self.task["key"], "status": result.status, "record": written(result)})

    def next(self) -> dict[str, Any] | None:
        """The next task, or None at the end."""
        line = next(self.lines, None)
        return None if line is None else json.loads(line)

    def send(self, message: dict[str, Any]) -> None:
        """Send one line of JSON."""
        self.answers.write(json.dumps(message) + "\n")
        self.answers.flush()


if __name__ == "__main__":
    try:
        main(socket.socket(fileno=int(sys.argv[1])))
    except (BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        pass
    sys.stdout.flush()
    os._exit(0)  # the ordinary end of torch takes a tenth of a second
