"""`python -m grader`, and the command `kata`: see grader/cli.py."""

import contextlib
import gc
import os
import sys

# `python -m` looks for modules in the working folder first. There hand-ins may lie, and what is called torch.py.
PROJECT_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if sys.path and sys.path[0] in ("", os.getcwd()) and os.path.realpath(os.getcwd()) != os.path.realpath(PROJECT_ROOT):
    del sys.path[0]


def run() -> None:
    """The command line, and then the end of the process: this does not return."""
    from grader.cli import main

    gc.disable()  # a short life: collecting costs more than it frees
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # that it is full or closed was told
            stream.flush()
    os._exit(code)  # torch takes a quarter of a second to end in good order, for nobody's use


if __name__ == "__main__":
    run()
