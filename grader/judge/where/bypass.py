"""Does a change go round a value of the learner's? Then the mistake may be where that value is computed."""

import ast
from collections.abc import Iterator

from grader.judge.where.edits import Change, Unit, made


def bypassed(unit: Unit, changes: tuple[Change, ...]) -> frozenset[int]:
    """The lines that give a value to local names which the changed definition reads no more."""
    before = _read(unit.node)
    with made(changes):
        lost = before - _read(unit.node)
    return frozenset(line for name, line in _given(unit.node) if name in lost)


def _read(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}


def _given(node: ast.AST) -> Iterator[tuple[str, int]]:
    """The local names with the lines where they are given a value."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id, part.lineno
