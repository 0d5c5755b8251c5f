"""Contains unforeseen errors of the grader, so that none costs more than the step in which it happened.

`optional` runs steps without which a verdict stands: a diagnosis, a picture, a note. A step that is left out is
reported on stderr, once for each reason. Where `policy.strict` is set, the error is raised instead: `GRADER_DEBUG=1`,
the tests and `make verify` set it.
"""

import os
import sys
import traceback
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


def optional(step: str, default: T, make: Callable[..., T], *arguments: object) -> T:
    """The result of `make(*arguments)`, or `default` where it raises an exception.

    step: its name in the line on stderr, as in "the pictures". Raises the exception where `policy.strict` is set.
    """
    try:
        return make(*arguments)
    except BadSubmission:  # an expected error: the submission cannot be graded as it is
        raise
    except Exception as error:
        if policy.strict:
            raise
        report(f"{step} left out: {reason(error)}")
        return default


def report(line: str) -> None:
    """Write one line on stderr for the person who runs the grader. A process writes the same line only once."""
    if line not in policy.reported:
        policy.reported.add(line)
        print(f"{line}. See more: GRADER_DEBUG=1", file=sys.stderr, flush=True)


def reason(error: BaseException) -> str:
    """The type and the place of an error of the grader, as one line.

    The text of an exception is included only for an InfrastructureError: others may hold a learner's answer.
    """
    if isinstance(error, InfrastructureError):
        return str(error)[:500]
    error = error.__cause__ or error  # the error that a check raised
    ours = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename.startswith(str(paths.GRADER))
    ]
    if not ours:
        return type(error).__name__
    file, line = ours[-1]
    return f"{type(error).__name__} at {Path(file).relative_to(paths.ROOT)}:{line}"
