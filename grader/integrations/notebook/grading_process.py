"""The process that grades for a notebook. It stays between two questions, so that only the first waits for torch."""

import contextlib
import json
import subprocess
import sys
import tempfile
from typing import IO, Any

from grader.catalog import paths
from grader.warm import client

COMMAND = [sys.executable, str(paths.PROGRAM), client.NOTEBOOK]


class GradingProcess:
    """Started by the first question, or before it by `start`. It ends with the kernel, or when nobody asks for long."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.stderr: IO[str] | None = None

    def start(self) -> None:
        """Start the process, unless one is running. It imports torch meanwhile."""
        if self.process is not None and self.process.poll() is None:
            return
        self.stderr = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115, open as long
        self.process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr, text=True,
            cwd=paths.DESK,
            start_new_session=True,  # who interrupts a cell interrupts the kernel's group
        )  # fmt: skip

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request: see `answer` in answering. Where there is none, {"text"} that says why."""
        reply = self._exchange(request) or self._exchange(request)  # it may have ended since it was asked last
        if reply is not None:
            return reply
        self.stderr.seek(0)
        last_line = (self.stderr.read().strip().splitlines() or ["it ended without a word"])[-1]
        return {"text": f"The grader could not do its work: {last_line}"}

    def end(self) -> None:
        """End the process and what it started."""
        if self.process is not None:
            self.process.kill()  # its fork server and the workers end with it
            self.process.communicate()
            self.process = None

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """The answer, or None where the process ended. One that is not waited for must not answer the next question."""
        self.start()
        try:
            with contextlib.suppress(OSError, ValueError):  # it ended, or it printed something else
                print(json.dumps(request), file=self.process.stdin, flush=True)
                return json.loads(self.process.stdout.readline())
        except BaseException:  # the learner interrupts the cell
            self.end()
            raise
        self.end()
        return None
