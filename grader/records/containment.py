"""Contains unforeseen errors of the grader, so that none costs more than the step in which it happened.

`optional` runs what is never worth a verdict: a diagnosis, a picture, a note. What it leaves out is reported on stderr,
once for each reason. Where `policy.strict` is set, the error is raised instead: `GRADER_DEBUG=1`, the tests and
`make verify` set it.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from grader.catalog import paths
from grader.catalog.errors import BadSubmission, InfrastructureError

T = TypeVar("T")


@dataclass
class Policy:
    """How this process treats unforeseen errors. strict: raise them; reported: the lines already written to stderr."""

    strict: bool = field(default_factory=lambda: bool(os.environ.get("GRADER_DEBUG")))
    reported: set[str] = field(default_factory=set)


policy = Policy()


def optional(what: str, default: T, make: Callable[..., T], *arguments: object) -> T:
    """The result of `make(*arguments)`, or `default` where it raises an exception.

    what: names the step in the line on stderr, as in "the pictures". Raises the exception where `policy.strict` is set.
    """
    try:
        return make(*arguments)
    except BadSubmission:  # foreseen: the submission cannot be graded as it is
        raise
    except Exception as error:
        if policy.strict:
            raise
        report(f"{what} left out: {reason(error)}")
        return default


def report(line: str) -> None:
    """Write one line on stderr for whoever runs the grader; the same line is written once in a process."""
    if line not in policy.reported:
        policy.reported.add(line)
        print(f"{line}. See more: GRADER_DEBUG=1", file=sys.stderr, flush=True)


def reason(error: BaseException) -> str:
    """What broke and where, as one line.

    The text of an exception is included only for an InfrastructureError: others may hold a learner's answer.
    """
    if isinstance(error, InfrastructureError):
        return str(error)[:500]
    error = error.__cause__ or error  # what a check raised
    where = place(error)
    return f"{type(error).__name__} at {where[0].relative_to(paths.ROOT)}:{where[1]}" if where else type(error).__name__


def place(error: BaseException) -> tuple[Path, int] | None:
    """The last file and line of the grader that an exception passed, or None where it passed none."""
    last, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(str(paths.GRADER)):
            last = (Path(trace.tb_frame.f_code.co_filename), trace.tb_lineno)
        trace = trace.tb_next
    return last
