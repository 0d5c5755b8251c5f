"""Contains unforeseen errors of the grader, so that none costs more than the step in which it happened.

`optional` runs steps without which a verdict stands: a diagnosis, a picture, a note. A step that is left out is
reported on stderr, once for each reason. Where `strict` is set, the error is raised instead: `GRADER_DEBUG=1`,
the tests and `make verify` set it.
"""

import functools
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from grader.catalog import paths
from grader.catalog.errors import BadSubmission, InfrastructureError

T = TypeVar("T")
strict = bool(os.environ.get("GRADER_DEBUG"))  # whether this process raises unforeseen errors


def optional(step: str, default: T, make: Callable[..., T], *arguments: object) -> T:
    """The result of `make(*arguments)`, or `default` where it raises an exception.

    step: its name in the line on stderr, as in "the pictures". Raises the exception where `strict` is set.
    """
    try:
        return make(*arguments)
    except BadSubmission:  # an expected error: the submission cannot be graded as it is
        raise
    except Exception as error:
        if strict:
            raise
        report(f"{step} left out: {reason(error)}")
        return default


@functools.cache  # so that a process writes the same line only once
def report(line: str) -> None:
    """Write one line on stderr for the person who runs the grader."""
    print(f"{line}. See more: GRADER_DEBUG=1", file=sys.stderr, flush=True)


def reason(error: BaseException) -> str:
    """The type and the place of an error of the grader, as one line.

    The text of an exception is included only for an InfrastructureError: others may hold a learner's answer.
    """
    if isinstance(error, InfrastructureError):
        return str(error)[:500]
    error = error.__cause__ or error  # the error that a check raised
    places = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    ours = [f"{file.relative_to(paths.ROOT)}:{line}" for file, line in places if file.is_relative_to(paths.GRADER)]
    return " at ".join([type(error).__name__, *ours[-1:]])
