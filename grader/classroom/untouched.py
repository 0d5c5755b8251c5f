"""Tells whether something is written in a file that was handed in, or only what everybody got."""

import ast
import functools
from collections.abc import Mapping

from grader.catalog import stubs
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom.handins import HandIn
from grader.records.source import written_definitions
from grader.records.syntax import FUNCTIONS, is_unwritten


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
    unwritten = _unwritten(handin.exercise)
    return not unwritten or any(written.get(name) != text for name, text in unwritten.items())


@functools.cache
def _unwritten(exercise: str) -> Mapping[str, str]:
    """The functions and methods of a stub that are to be written."""
    body = ast.parse(_stub(exercise)).body
    functions = {node.name: node for node in body if isinstance(node, FUNCTIONS)}
    for owner in body:
        if isinstance(owner, ast.ClassDef):
            functions |= {f"{owner.name}.{node.name}": node for node in owner.body if isinstance(node, FUNCTIONS)}
    written = written_definitions(_stub(exercise))
    return {name: written[name] for name, node in functions.items() if is_unwritten(node.body[-1])}


@functools.cache
def _stub(exercise: str) -> str:
    """The stub; "" where there is none."""
    return stubs.original(exercise) or ""


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
