"""Edits of an index: other bounds, another order of two indices, one more or less, and no index."""

import ast
from collections.abc import Iterator

from grader.judge.where.edits import Replacement


def other_subscripts(node: ast.Subscript) -> Iterator[Replacement]:
    """The indices and slices that may be meant instead of this one."""
    yield node.value, "an index", 1, ("whole",)
    if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        first_index, second_index = node.slice.elts
        swapped = ast.Tuple([second_index, first_index], ast.Load())
        yield ast.Subscript(node.value, swapped, node.ctx), "the order of two indices", 0, None
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for position, index in enumerate(indices):
        for new_index, kind in _other_indices(index):
            changed = [*indices[:position], new_index, *indices[position + 1 :]]
            new_slice = ast.Tuple(changed, ast.Load()) if isinstance(node.slice, ast.Tuple) else new_index
            yield ast.Subscript(node.value, new_slice, node.ctx), kind, 1, None


def _other_indices(index: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    if isinstance(index, ast.Slice):
        for lower, upper in _other_bounds(index):
            yield ast.Slice(lower, upper, index.step), "a slice"
    elif not isinstance(index, ast.Constant):
        for sign in (ast.Add(), ast.Sub()):
            yield ast.BinOp(index, sign, ast.Constant(1)), "an index"


def _other_bounds(index: ast.Slice) -> Iterator[tuple[ast.expr | None, ast.expr | None]]:
    if index.upper is not None:
        yield index.lower, ast.BinOp(index.upper, ast.Add(), ast.Constant(1))
        yield index.lower, ast.BinOp(index.upper, ast.Sub(), ast.Constant(1))
        yield index.lower, None
        yield index.upper, None
    if index.lower is not None:
        yield ast.BinOp(index.lower, ast.Add(), ast.Constant(1)), index.upper
        yield None, index.upper
        yield None, index.lower
