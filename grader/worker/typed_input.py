"""Ends code that waits for the keyboard at the line that waits: nobody can type where code is graded."""

import builtins
import pdb
import re
import sys
from collections.abc import Callable

WAITS = re.compile(r"(breakpoint\(\)|pdb\.set_trace\(\)|input\(\)) waits for the keyboard")


def install() -> None:
    """Replace what waits for the keyboard in this process and its forks."""
    sys.breakpointhook = _ending("breakpoint()")
    builtins.input = _ending("input()")
    pdb.set_trace = _ending("pdb.set_trace()")


def _ending(name: str) -> Callable[..., None]:
    def end(*_: object, **__: object) -> None:
        raise EOFError(f"{name} waits for the keyboard")

    return end
