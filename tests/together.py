"""Runs several command lines in this one process, with one fork server between them.

As a script it reads `{"tier": "A", "commands": [[word, …], …]}` and prints a JSON list of what each did: `code`,
`stdout`, `stderr`. It serves tests that grade files of many exercises: a process for each costs more than the grading.
"""

import contextlib
import gc
import importlib
import io
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

VERBS = ("cmd_check", "grade_files")


def main() -> None:
    """Run the command lines of stdin."""
    from grader import cli
    from grader.sandbox.forkserver import ForkServer

    asked = json.load(sys.stdin)
    gc.disable()  # as the command line does
    with ForkServer("cpu", asked["tier"]) as fork_server:

        @contextlib.contextmanager
        def lent(device: str, tier: str | None = None) -> Iterator[ForkServer]:
            """Takes the place of ForkServer."""
            assert (device, tier) == ("cpu", asked["tier"])
            yield fork_server

        for name in VERBS:
            with contextlib.suppress(ModuleNotFoundError):  # a learner's bundle grades nobody else's files
                importlib.import_module(f"grader.cli.{name}").ForkServer = lent
        done = [ran(cli.main, words) for words in asked["commands"]]
    print(json.dumps(done), flush=True)
    os._exit(0)  # torch takes a quarter of a second to end in good order


def ran(command_line: Any, words: list[str]) -> dict[str, Any]:
    """What one command line did."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = command_line(words)
    return {"code": code, "stdout": stdout.getvalue(), "stderr": stderr.getvalue()}


if __name__ == "__main__":
    main()
