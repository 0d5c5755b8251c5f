"""Slow work in a process of its own beside the watch: pictures, the lesson's calls, a training.

It is the command that a learner could type, whose output becomes a page. So it neither waits for a grading nor disturbs
its random numbers, an error of it ends nobody, and the warm process answers it in well under a second.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from grader.catalog import paths

PLOT, TRY, TRAIN = "plot", "try", "train"
DOING = {PLOT: "drawing the picture", TRY: "running the example calls", TRAIN: "training the code"}


@dataclass(frozen=True)
class Request:
    """One page. verb: PLOT, TRY or TRAIN."""

    verb: str
    folder: str
    width: int

    def start(self) -> "subprocess.Popen[str]":
        """Start the command, which thinks that it prints to this terminal. A training would draw each step there."""
        environment = os.environ | {"COLUMNS": str(self.width)} | ({} if self.verb == TRAIN else {"FORCE_COLOR": "1"})
        return subprocess.Popen(
            [sys.executable, str(paths.PROGRAM), self.verb, self.folder], cwd=paths.DESK, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            start_new_session=True,  # Ctrl-C interrupts the watch alone
        )  # fmt: skip


class Beside:
    """The process, from the watch's side. It makes one page at a time."""

    def __init__(self, publish: Callable[[Request, str], None]) -> None:
        self.publish = publish  # called with the page, as text with escape codes, from a thread
        self.process: subprocess.Popen[str] | None = None
        self.waiting: Request | None = None
        self.since = 0.0  # of time.monotonic: when the page was asked for

    @property
    def words(self) -> str:
        """The work in progress, for the line of progress; "" where there is none."""
        if (request := self.waiting) is None:
            return ""
        return f"{DOING[request.verb]} of {request.folder[:2]} … {time.monotonic() - self.since:.0f} s"

    def ask(self, request: Request) -> None:
        """Ask for a page, unless one is being made."""
        if self.waiting is None:
            self.waiting, self.since = request, time.monotonic()
            self.process = request.start()
            threading.Thread(target=self._answer, args=(request, self.process), daemon=True).start()

    def close(self) -> None:
        """End what is being made."""
        if self.process is not None:
            self.process.kill()

    def _answer(self, request: Request, process: "subprocess.Popen[str]") -> None:
        page, _ = process.communicate()
        self.waiting = None
        self.publish(request, page)
