"""The process that grades for a notebook, as the kernel sees it and from within.

It stays between two questions, so that only the first waits for torch. Requests come from stdin, answers go to
stdout, each a line of JSON.
"""

import contextlib
import io
import json
import secrets
import select
import subprocess
import sys
import tempfile
from typing import IO, Any

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import InfrastructureError
from grader.desk import progress
from grader.records.results import Settings
from grader.records.safe_files import MAX_SOURCE
from grader.records.submission import Submission
from grader.sandbox.forkserver import ForkServer
from grader.warm import client

COMMAND = [sys.executable, str(paths.PROGRAM), client.NOTEBOOK]
IDLE_S = 1800.0  # without a question, after which the process ends and gives its memory back


class GradingProcess:
    """Started by the first question, or before it by `start`. It ends with the kernel, or when nobody asks for long."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.stderr: IO[str] = io.StringIO()

    def start(self) -> subprocess.Popen[str]:
        """Start the process, unless one is running, and return it. It imports torch meanwhile."""
        if self.process is not None and self.process.poll() is None:
            return self.process
        self.stderr = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115, open as long
        self.process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr, text=True,
            cwd=paths.DESK,
            start_new_session=True,  # who interrupts a cell interrupts the kernel's group
        )  # fmt: skip
        return self.process

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request: see `answer`. Where there is none, {"text"} that says why."""
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


def answer(request: dict, fork_server: ForkServer) -> dict:
    """{"text", "html"} for {"what", "exercise", "source", "name", "seed"}; "what" is "check", "plot" or "matrices".

    Raises InfrastructureError where the grader cannot do its work.
    """
    exercise = catalog.find(request["exercise"])
    if len(request["source"].encode()) > MAX_SOURCE:
        return {"text": f"{request['name']} holds too much code: {MAX_SOURCE >> 10} KiB is the limit."}
    handed_in = Submission(request["source"], request["name"])
    from grader.integrations.notebook import display
    from grader.judge import capture, grading

    if form := {"plot": display.pictures, "matrices": display.matrices}.get(request["what"]):
        return form(exercise, capture.capture_pictures(exercise, handed_in, fork_server))
    seed = request["seed"] if request["seed"] is not None else secrets.randbelow(1_000_000)
    result = grading.result(exercise, handed_in, fork_server, Settings(seed=seed, where=True))
    progress.note(result, kind=progress.NOTEBOOK)
    return display.verdict(result, capture.capture_pictures(exercise, handed_in, fork_server) if result.started else ())


def main() -> int:
    """Answer requests until there are no more. Returns the exit code."""
    out, sys.stdout = sys.stdout, sys.stderr  # so that nothing printed meanwhile mixes with the answers
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.judge import grading  # noqa: F401

        while select.select([sys.stdin], [], [], IDLE_S)[0] and (line := sys.stdin.readline()):
            try:
                reply = answer(json.loads(line), fork_server)
            except InfrastructureError as error:
                reply = {"text": f"The grader could not do its work: {error}"}
            print(json.dumps(reply), file=out, flush=True)
    return errors.PASSED
