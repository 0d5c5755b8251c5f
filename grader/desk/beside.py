"""What is done in a process of its own beside the watch: pictures, the lesson's calls, a training, the solution.

It is the command that a learner could type, whose output becomes a page or a note. So it neither waits for a grading
nor disturbs its random numbers, an error of it ends nobody, and the warm process answers it in well under a second.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from grader.catalog import paths

PLOT, TRY, TRAIN, SOLUTION, FIGURE, RESET = "plot", "try", "train", "solution", "figure", "reset"
NOTES = (FIGURE, RESET)  # which say what was done and show no page


@dataclass(frozen=True)
class Request:
    """One page. verb: what makes it."""

    verb: str
    folder: str
    width: int

    def start(self, output: IO[str]) -> "subprocess.Popen[bytes]":
        """Start the command, which thinks that it prints to this terminal. A training would draw each step there.

        output: a file, since a browser that it opens would hold a pipe for as long as it runs.
        """
        environment = os.environ | {"COLUMNS": str(self.width)} | ({} if self.verb == TRAIN else {"FORCE_COLOR": "1"})
        return subprocess.Popen(
            [sys.executable, str(paths.PROGRAM), self.verb, self.folder], cwd=paths.DESK, env=environment,
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C interrupts the watch alone
        )  # fmt: skip


class Beside:
    """The process, from the watch's side. It makes one page at a time."""

    def __init__(self, publish: Callable[[Request, str], None]) -> None:
        self.publish = publish  # called with the page, as text with escape codes, from a thread
        self.process: subprocess.Popen[bytes] | None = None
        self.waiting: Request | None = None
        self.since = 0.0  # of time.monotonic: when the page was asked for

    @property
    def words(self) -> str:
        """The command in progress, for the line of progress; "" where there is none."""
        if (request := self.waiting) is None:
            return ""
        return f"make {request.verb} EX={request.folder[:2]} … {time.monotonic() - self.since:.0f} s"

    def ask(self, request: Request) -> None:
        """Ask for a page, unless one is being made."""
        if self.waiting is None:
            self.waiting, self.since = request, time.monotonic()
            threading.Thread(target=self._answer, args=(request,), daemon=True).start()

    def close(self) -> None:
        """End what is being made."""
        if self.process is not None:
            self.process.kill()

    def _answer(self, request: Request) -> None:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            self.process = request.start(output)
            self.process.wait()
            output.seek(0)
            page = output.read()
        self.waiting = None
        self.publish(request, page)
