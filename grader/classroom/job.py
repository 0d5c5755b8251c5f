"""One grading process: takes submissions from the classroom's process and gives back their results.

    python -m grader.classroom.job FD        the descriptor of the socket to the one who started it

Lines of JSON both ways. First comes how to grade; then one line a submission; each is answered by one line.
A row of submissions of the same exercise shares one session of checks.
"""

import gc
import json
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import asdict

from grader.classroom import alike
from grader.classroom.store import written
from grader.nursery import InfrastructureError, Nursery
from grader.results import ExerciseResult
from grader.submission import Submission

MAX_KNOWN = 500  # results that are kept


def main(connection: socket.socket) -> None:
    """Grade until the other side closes the connection."""
    lines, answers = connection.makefile("r", encoding="utf-8"), connection.makefile("w", encoding="utf-8")
    Job(lines, answers).run()


class Job:
    """The work of one process. `task` is the submission that is being graded."""

    def __init__(self, lines, answers):
        self.lines, self.answers = lines, answers
        self.task: dict | None = None
        self.code: str | None = None
        self.known: dict[str, ExerciseResult] = {}

    def run(self) -> None:
        order = json.loads(next(self.lines))
        with Nursery(order["device"], order["tier"]) as nursery:
            from grader import catalog, runner  # heavy: torch, imported while the nursery imports it too

            gc.freeze()  # no need to look through all that again
            try:
                sandbox = nursery.demand(order["accept_tier"])
            except InfrastructureError as error:
                return self.say({"refused": str(error)})
            self.say({"ready": asdict(sandbox)})
            settings = runner.Settings(**order["settings"])
            self.task = self.next()
            while self.task is not None:
                exercise = catalog.read(self.task["exercise"])
                try:
                    runner.grade_all(exercise, self.row(exercise.folder), nursery, settings, self.record)
                except InfrastructureError as error:
                    self.say({"key": self.task["key"], "failed": str(error)[:500]})
                    self.task = self.next()

    def row(self, folder: str) -> Iterator[Submission]:
        """Submissions as long as they are of this exercise, but those alike to one that is done."""
        self.known.clear()
        while self.task is not None and self.task["exercise"] == folder:
            submission = Submission(self.task["source"], self.task["filename"], tuple(self.task["notes"]))
            self.code = alike.code(submission)
            if self.code in self.known:
                self.tell(self.known[self.code])
            else:
                yield submission
            self.task = self.next()

    def record(self, submission: Submission, result) -> None:
        if self.code is not None and len(self.known) < MAX_KNOWN:
            self.known[self.code] = result
        self.tell(result)

    def tell(self, result) -> None:
        self.say({"key": self.task["key"], "status": result.status, "record": written(result)})

    def next(self) -> dict | None:
        line = next(self.lines, None)
        return None if line is None else json.loads(line)

    def say(self, message: dict) -> None:
        self.answers.write(json.dumps(message) + "\n")
        self.answers.flush()


if __name__ == "__main__":
    try:
        main(socket.socket(fileno=int(sys.argv[1])))
    except (BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        pass
    sys.stdout.flush()
    os._exit(0)  # torch takes a tenth of a second to take itself apart
