"""The process that grades for a notebook: it answers questions, each a line of JSON.

It keeps torch and a fork server, so that only the first question waits for them. Nothing that it prints or raises
disturbs who asks.
"""

import contextlib
import json
import select
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import IO, Any

from grader import folders
from grader.catalog import errors, paths
from grader.sandbox.forkserver import ForkServer

BROKEN = "The grader could not do its work: {}"
IDLE_S = 1800.0  # without a question, after which the process ends and gives its memory back


class GradingProcess:
    """Started by the first question, or before it by `start`. It ends with the kernel, or when nobody asks for long."""

    process: subprocess.Popen[str] | None = None
    stderr: IO[str]

    def start(self) -> subprocess.Popen[str]:
        """Start the process, unless one is running, and return it. It imports torch meanwhile."""
        if self.process is not None and self.process.poll() is None:
            return self.process
        self.stderr = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115, open as long
        self.process = subprocess.Popen(
            [sys.executable, str(paths.PROGRAM), folders.NOTEBOOK],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr, text=True, cwd=paths.DESK,
            start_new_session=True,  # who interrupts a cell interrupts the kernel's group alone
        )  # fmt: skip
        return self.process

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request. Where there is none, {"text"} that says why."""
        reply = self._exchange(request) or self._exchange(request)  # it may have ended since it was asked last
        if reply:
            return reply
        self.stderr.seek(0)
        said = self.stderr.read().strip().splitlines() or ["it ended without a word"]
        return {"text": BROKEN.format(said[-1])}

    def end(self) -> None:
        """End the process and what it started: its fork server and the workers end with it."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def _exchange(self, request: dict[str, Any]) -> Any:
        """The answer, or None where the process ended. One that is not waited for must not answer the next question."""
        process = self.start()
        assert process.stdout is not None  # it is a pipe
        try:
            with contextlib.suppress(OSError, ValueError):  # it ended, or it printed something else
                print(json.dumps(request), file=process.stdin, flush=True)
                return json.loads(process.stdout.readline())
        except BaseException:  # the learner interrupts the cell
            self.end()
            raise
        self.end()
        return None


def serve(answer: Callable[[Any, ForkServer], Any]) -> int:
    """Be the process: answer until the kernel closes our input, or asks nothing for long. Returns the exit code."""
    out, sys.stdout = sys.stdout, sys.stderr  # so that nothing printed meanwhile mixes with the answers
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.judge import grading  # noqa: F401

        while select.select([sys.stdin], [], [], IDLE_S)[0] and (line := sys.stdin.readline()):
            print(json.dumps(answer(json.loads(line), fork_server)), file=out, flush=True)
    return errors.PASSED
