"""Edits of an index: its bounds, the order of two, one more or less, and the whole value."""

import ast
from collections.abc import Iterator

from grader.judge.where.edits import Replacement


def other_subscripts(node: ast.Subscript) -> Iterator[Replacement]:
    """What may be meant instead of this index or slice."""
    yield node.value, "an index", 1, ("whole",)
    if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        first, second = node.slice.elts
        swapped = ast.Tuple([second, first], ast.Load())
        yield ast.Subscript(node.value, swapped, node.ctx), "the order of two indices", 0, None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for place, part in enumerate(parts):
        for new, kind in _other_indices(part):
            changed = [*parts[:place], new, *parts[place + 1 :]]
            inside = ast.Tuple(changed, ast.Load()) if isinstance(node.slice, ast.Tuple) else new
            yield ast.Subscript(node.value, inside, node.ctx), kind, 1, None


def _other_indices(part: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    if isinstance(part, ast.Slice):
        for lower, upper in _other_bounds(part):
            yield ast.Slice(lower, upper, part.step), "a slice"
    elif not isinstance(part, ast.Constant):
        for sign in (ast.Add(), ast.Sub()):
            yield ast.BinOp(part, sign, ast.Constant(1)), "an index"


def _other_bounds(part: ast.Slice) -> Iterator[tuple[ast.expr | None, ast.expr | None]]:
    if part.upper is not None:
        yield part.lower, ast.BinOp(part.upper, ast.Add(), ast.Constant(1))
        yield part.lower, ast.BinOp(part.upper, ast.Sub(), ast.Constant(1))
        yield part.lower, None
        yield part.upper, None
    if part.lower is not None:
        yield ast.BinOp(part.lower, ast.Add(), ast.Constant(1)), part.upper
        yield None, part.upper
        yield None, part.lower
