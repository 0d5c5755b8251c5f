"""Tells whether a file that was handed in is the stub of its exercise, as everybody got it."""

import functools

from grader.catalog import paths, stubs
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom.handins import HandIn


def is_stub(handin: HandIn) -> bool:
    """Whether a file is the stub of its exercise, as it is handed out."""
    try:
        return _lines(handin.read().source) == _lines(_stub(handin.exercise))
    except (BadSubmission, NoSuchFile, OSError):
        return False


@functools.cache
def _stub(exercise: str) -> str:
    return stubs.make(paths.solution(exercise).read_text("utf-8"))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
