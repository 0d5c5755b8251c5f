"""Tells whether something is written in a source, or only what everybody got."""

import ast
import functools
from collections.abc import Mapping

from grader.catalog import stubs
from grader.catalog.errors import BadSubmission
from grader.records.source import written_definitions
from grader.records.syntax import FUNCTIONS, is_unwritten


def is_begun(source: str, exercise: str) -> bool:
    """True if a source has more of what is asked for than the stub of the exercise.

    The stub of another release counts as one too: comments, docstrings and type hints make no difference.
    """
    if _lines(source) == _lines(_stub(exercise)):  # most files of a class are such
        return False
    try:
        written = written_definitions(source)
    except BadSubmission:
        return True
    unwritten = _unwritten(exercise)
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
    """The stub; "" if there is none."""
    return stubs.original(exercise) or ""


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
