"""Finds values of the learner's that a change bypasses: then the mistake may be where such a value is computed."""

import ast
from collections.abc import Iterator

from grader.judge.where.edits import Change, Unit, applied


def bypassed(unit: Unit, changes: tuple[Change, ...]) -> frozenset[int]:
    """The lines that assign to local names which the changed definition does not read any more."""
    names_read = _names_read(unit.node)
    with applied(changes):
        no_longer_read = names_read - _names_read(unit.node)
    return frozenset(line for name, line in _assignments(unit.node) if name in no_longer_read)


def _names_read(node: ast.AST) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load)}


def _assignments(node: ast.AST) -> Iterator[tuple[str, int]]:
    """The local names, with the lines that assign to them."""
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id, child.lineno
