"""Tells whether something is written in a file that was handed in, or only what everybody got."""

import functools
from collections.abc import Mapping

from grader.catalog import paths, stubs
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom.handins import HandIn
from grader.records.source import written_definitions


def is_begun(handin: HandIn) -> bool:
    """Whether a file or notebook has more of what is asked for than the stub. Of one that cannot be read, True.

    The stub of another release counts as one too: comments, docstrings and type hints make no difference.
    """
    try:
        source = handin.read().source
        if _lines(source) == _lines(_stub(handin.exercise)):  # most files of a class are such
            return False
        written = written_definitions(source)
    except (BadSubmission, NoSuchFile, OSError):
        return True
    return any(written.get(name) != text for name, text in _unwritten(handin.exercise).items())


@functools.cache
def _unwritten(exercise: str) -> Mapping[str, str]:
    """The definitions of a stub that are to be written."""
    solution = written_definitions(paths.solution(exercise).read_text("utf-8"))
    return {name: text for name, text in written_definitions(_stub(exercise)).items() if solution[name] != text}


@functools.cache
def _stub(exercise: str) -> str:
    return stubs.make(paths.solution(exercise).read_text("utf-8"))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
