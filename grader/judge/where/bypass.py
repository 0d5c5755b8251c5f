"""Finds values of the learner's that a change bypasses: then the mistake may be where such a value is computed."""

import ast
from collections.abc import Iterator

from grader.judge.where.edits import Change, Unit, applied
from grader.judge.where.nodes import called_name, is_aside


def bypassed(unit: Unit, changes: tuple[Change, ...]) -> frozenset[int]:
    """The lines that assign to local names which the changed definition does not read any more."""
    names_read = _names_read(unit.node)
    with applied(changes):
        no_longer_read = names_read - _names_read(unit.node)
    return frozenset(line for name, line in _assignments(unit.node) if name in no_longer_read)


def _names_read(node: ast.AST) -> set[str]:
    """The names that are read for more than their shape, and not only printed."""
    names: set[str] = set()
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            names.add(part.id)
        if not (is_aside(part) or _is_size(part)):
            waiting += ast.iter_child_nodes(part)
    return names


def _assignments(node: ast.AST) -> Iterator[tuple[str, int]]:
    """The local names, with the lines that assign to them, without the names for the sizes of a shape."""
    unpacked_sizes = {
        id(part)
        for statement in ast.walk(node)
        if isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Tuple)
        and _is_size(statement.value)
        for part in ast.walk(statement)
    }
    for child in ast.walk(node):
        if id(child) in unpacked_sizes:
            continue
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id, child.lineno


def _is_size(node: ast.AST) -> bool:
    """Whether an expression reads a size and nothing else: x.shape, x.shape[-1], x.size(1), len(x)."""
    if isinstance(node, ast.Subscript):
        return _is_size(node.value)
    if isinstance(node, ast.Call):
        return called_name(node) in ("size", "len", "dim")
    return isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim", "dtype", "device")
