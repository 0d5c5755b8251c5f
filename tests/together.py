"""Runs several command lines in this one process, with one fork server a tier between them.

As a script it reads lines of JSON, `{"commands": [[word, …], …]}`, and answers each with a line: a list of what each
command did, `code`, `stdout`, `stderr`, and in `largest` the most bytes of memory that this process has taken so far.
"folder": where the commands run. It serves tests that grade files of many exercises: a process for each costs more than
the grading.
"""

import contextlib
import gc
import importlib
import io
import json
import os
import resource
import sys
from collections.abc import Iterator
from typing import Any

VERBS = ("learn", "teach")


def main() -> None:
    from grader import cli
    from grader.sandbox import tiers
    from grader.sandbox.forkserver import ForkServer

    servers: dict[str, ForkServer] = {}
    gc.disable()  # as the command line does
    with contextlib.ExitStack() as closing:

        @contextlib.contextmanager
        def lent(device: str, tier: str | None = None) -> Iterator[ForkServer]:
            assert device == "cpu"
            name = tier or tiers.choose(device).name
            if name not in servers:
                servers[name] = closing.enter_context(ForkServer(device, tier))
            yield servers[name]

        for name in VERBS:
            importlib.import_module(f"grader.cli.{name}").ForkServer = lent
        for line in sys.stdin:
            asked = json.loads(line)
            os.chdir(asked.get("folder", "."))
            print(json.dumps([ran(cli.main, words) for words in asked["commands"]]), flush=True)
    os._exit(0)  # torch takes a quarter of a second to end in good order


def ran(command_line: Any, words: list[str]) -> dict[str, Any]:
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = command_line(words)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return {"code": code, "stdout": stdout.getvalue(), "stderr": stderr.getvalue(), "largest": largest}


if __name__ == "__main__":
    main()
