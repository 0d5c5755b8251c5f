"""A process of ours that answers questions, each a line of JSON, and so does slow work for a notebook.

It keeps torch and a fork server, so that only the first question waits for them. Nothing that it prints or raises
disturbs who asks.
"""

import contextlib
import io
import json
import select
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import IO, Any

from grader.catalog import errors, paths
from grader.sandbox.forkserver import ForkServer


class Child:
    """The process as its owner sees it. The first question starts it, and again where it has ended.

    verb: what grader/__main__.py calls it.
    """

    def __init__(self, verb: str) -> None:
        self.command = [sys.executable, str(paths.PROGRAM), verb]
        self.process: subprocess.Popen[str] | None = None
        self.stderr: IO[str] = io.StringIO()

    def start(self) -> subprocess.Popen[str]:
        """Start the process, unless one is running, and return it. It imports torch meanwhile."""
        if self.process is not None and self.process.poll() is None:
            return self.process
        self.stderr = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115, open as long
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr, text=True,
            cwd=paths.DESK,
            start_new_session=True,  # Ctrl-C, or who interrupts a cell, interrupts the owner's group alone
        )  # fmt: skip
        return self.process

    def exchange(self, question: dict[str, Any]) -> Any:
        """The answer, or None where the process ended. One that is not waited for must not answer the next question."""
        process = self.start()
        assert process.stdout is not None  # it is a pipe
        try:
            with contextlib.suppress(OSError, ValueError):  # it ended, or it printed something else
                print(json.dumps(question), file=process.stdin, flush=True)
                return json.loads(process.stdout.readline())
        except BaseException:  # the learner interrupts the cell
            self.end()
            raise
        self.end()
        return None

    def last_words(self) -> str:
        """The last line that the process wrote to stderr."""
        self.stderr.seek(0)
        return (self.stderr.read().strip().splitlines() or ["it ended without a word"])[-1]

    def kill(self) -> None:
        """End the process, also while another thread waits for its answer."""
        if self.process is not None:
            self.process.kill()  # its fork server and the workers end with it

    def end(self) -> None:
        """End the process and what it started."""
        if self.process is not None:
            self.kill()
            self.process.communicate()
            self.process = None


def serve(answer: Callable[[Any, ForkServer], Any], idle_s: float | None = None) -> int:
    """Be the process: answer until the owner closes our input. Returns the exit code.

    idle_s: the seconds without a question after which it ends and gives its memory back; None: it stays.
    """
    out, sys.stdout = sys.stdout, sys.stderr  # so that nothing printed meanwhile mixes with the answers
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.judge import grading  # noqa: F401

        while select.select([sys.stdin], [], [], idle_s)[0] and (line := sys.stdin.readline()):
            print(json.dumps(answer(json.loads(line), fork_server)), file=out, flush=True)
    return errors.PASSED
