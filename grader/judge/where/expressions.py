"""Edits of expressions: operands, names, numbers, conditions, orders; those of calls, indices and wraps come in."""

import ast
import itertools
from collections.abc import Iterator

from grader.judge.where.calls import other_calls
from grader.judge.where.edits import Change, Edit, Function, Replacement
from grader.judge.where.nodes import (
    called_name,
    constant,
    exchanged,
    expression,
    is_docstring,
    number_of,
    part_in_words,
    square_root,
    transposed,
)
from grader.judge.where.scope import Scope
from grader.judge.where.subscripts import other_subscripts
from grader.judge.where.vocabulary import COMPARISONS, OPERATORS, SWAPPED, TURNS
from grader.judge.where.wraps import iterated, may_be_wrapped, registered, sizes, wrapped

FILLING = ("masked_fill", "masked_fill_", "where", "full", "full_like")
ORDER_OF_PARTS = "the order of the parts"
MAX_ENTRIES = 4  # of a dict whose order is changed
SKIPPED = ("annotation", "returns", "decorator_list", "type_params")

Slot = tuple[ast.AST, str, int | None]


def expression_edits(function: Function, scope: Scope) -> Iterator[Edit]:
    """The edits of every expression of a function, in the order of the expressions."""
    computes = function.name != "__init__"
    for node, slot, parent in slots(function):
        replacements = (_replacements(node, parent, scope), sizes(node, parent, scope), iterated(node, parent))
        for new, kind, tier, sign in itertools.chain(*replacements):
            yield Edit((Change(*slot, new),), node.lineno, kind, tier, sign)
        if may_be_wrapped(node, parent):
            added_tier = 0 if isinstance(parent, (ast.Assign, ast.Return)) else 1
            wrap_replacements = wrapped(node, parent, scope) if computes else registered(node)
            for new, kind, tier, sign in wrap_replacements:
                yield Edit((Change(*slot, new),), node.lineno, kind, tier + added_tier if tier else 0, sign)


def slots(function: Function) -> Iterator[tuple[ast.expr, Slot, ast.AST]]:
    """Every expression that is computed, its slot, and its parent node."""
    waiting: list[ast.AST] = [function]
    while waiting:
        parent = waiting.pop(0)
        for field, value in ast.iter_fields(parent):
            if field in SKIPPED or (field == "func" and isinstance(value, ast.Name)):
                continue
            for index, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(item, ast.AST) or is_docstring(item):
                    continue
                if isinstance(item, (ast.JoinedStr, ast.Raise)):  # texts of errors are not compared
                    continue
                if isinstance(item, ast.expr) and not isinstance(getattr(item, "ctx", None), (ast.Store, ast.Del)):
                    yield item, (parent, field, index), parent
                waiting.append(item)


def _replacements(node: ast.expr, parent: ast.AST, scope: Scope) -> Iterator[Replacement]:
    if isinstance(node, (ast.Name, ast.Subscript)):
        yield from ((ast.Name(name, ast.Load()), "which value is used", 0, None) for name in scope.unread)
    number = number_of(node)
    if number is not None and not isinstance(getattr(parent, "op", None), ast.USub):
        yield from _other_numbers(node, number, parent, scope)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value), part_in_words(parent), 0, ("flag", part_in_words(parent))
    elif isinstance(node, ast.Name) and node.id in scope.values:
        yield from _other_names(node, scope)
    elif isinstance(node, ast.Attribute):
        yield from _other_attributes(node, scope)
    elif isinstance(node, ast.Call):
        yield from other_calls(node, scope)
    elif isinstance(node, ast.BinOp):
        yield from _other_operations(node)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for comparison in COMPARISONS.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [comparison()], node.comparators), "a comparison", 1, None
    elif isinstance(node, ast.BoolOp):
        other_op: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield ast.BoolOp(other_op, node.values), "a condition", 2, None
        yield from ((value, "a condition", 2, None) for value in node.values)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand, "a sign" if isinstance(node.op, ast.USub) else "a negation", 0, ("unary",)
    elif isinstance(node, ast.IfExp):
        yield from ((branch, "a condition", 2, None) for branch in (node.body, node.orelse))
        yield ast.IfExp(node.test, node.orelse, node.body), "a condition", 2, None
    elif isinstance(node, ast.Subscript):
        yield from other_subscripts(node)
    elif isinstance(node, (ast.Tuple, ast.List)) and node.elts:
        other_kind = ast.List if isinstance(node, ast.Tuple) else ast.Tuple
        if not isinstance(parent, ast.Subscript):
            yield other_kind(node.elts, ast.Load()), "whether it is a tuple or a list", 0, None
        yield from _other_orders(node)
    elif isinstance(node, ast.Dict) and len(node.keys) <= MAX_ENTRIES:
        for pairs in exchanged([*zip(node.keys, node.values)]):
            yield ast.Dict([key for key, _ in pairs], [value for _, value in pairs]), ORDER_OF_PARTS, 0, None


def _other_numbers(node: ast.expr, number: float, parent: ast.AST, scope: Scope) -> Iterator[Replacement]:
    place = part_in_words(parent)
    if isinstance(parent, ast.Call) and called_name(parent) in FILLING:
        yield expression("float('-inf')"), place, 0, None
    if isinstance(number, int):
        index_values = (-1, -2, 0, 1, 2, -3, 3) if "argument" in place or "index" in place else ()
        other_values = (number - 1, number + 1, 0, 1, 2, -number)
        for value in dict.fromkeys((*index_values, *other_values)):
            if value != number:
                yield constant(value), place, 0 if index_values else 1, ("number", place, number, value)
        for name in scope.dims if index_values else ():
            yield ast.Name(name, ast.Load()), place, 0, ("number", place, number, name)
        for tier, name in enumerate(scope.values[:6], 1):
            yield expression(f"{name}.shape[-1]"), "a size", 1 if tier < 4 else 2, None
            yield expression(f"{name}.shape[-2]"), "a size", 2, None
            yield ast.Name(name, ast.Load()), "a size", 1 if tier < 4 else 2, None
        for name in scope.attributes[:8]:
            yield expression(f"self.{name}"), "a size", 3, None
    else:
        for text in ("float('-inf')", "0.0", "1.0", "0.5", "-0.5", f"-({number})"):
            yield expression(text), place, 0, ("number", place, number, text)


def _other_names(node: ast.Name, scope: Scope) -> Iterator[Replacement]:
    for other in scope.values:
        if other != node.id:
            yield ast.Name(other, node.ctx), "which value is used", 1, ("name", node.id, other)


def _other_attributes(node: ast.Attribute, scope: Scope) -> Iterator[Replacement]:
    if isinstance(node.value, ast.Name) and node.value.id == "self":
        for other in scope.attributes:
            if other != node.attr:
                yield ast.Attribute(node.value, other, node.ctx), "which part of self is used", 0, None
        for name in scope.values:
            yield ast.Name(name, ast.Load()), "which value is used", 2, None
    if node.attr in ("inf", "nan"):
        yield from ((expression(text), "a number", 0, None) for text in ("float('-inf')", "float('inf')", "0.0"))
    if node.attr in ("T", "mT", "data", "H"):
        kind = "a transpose" if node.attr != "data" else "the use of .data"
        yield node.value, kind, 0, ("plain", node.attr)
        for dim_pair in TURNS[:3] if node.attr != "data" else ():
            yield transposed(node.value, dim_pair), "a transpose", 0, ("turn", dim_pair)


def _other_operations(node: ast.BinOp) -> Iterator[Replacement]:
    if isinstance(node.op, SWAPPED):
        yield ast.BinOp(node.right, node.op, node.left), "the order of two operands", 0, ("operands",)
    sign = type(node.op).__name__
    yield node.left, "an operand", 0, ("left", sign)
    yield node.right, "an operand", 0, ("right", sign)
    for other in OPERATORS.get(type(node.op), ()):
        yield ast.BinOp(node.left, other(), node.right), "an operator", 0, ("operator", sign, other.__name__)
    if isinstance(node.op, (ast.Div, ast.Mult)):
        yield ast.BinOp(node.left, node.op, square_root(node.right)), "the scale", 0, ("root",)
    if isinstance(node.op, (ast.Mult, ast.Div, ast.Add, ast.Sub)) and isinstance(node.left, ast.BinOp):
        operation = node.left  # (a + b) * c for a + b * c, and the reverse
        moved = ast.BinOp(operation.left, operation.op, ast.BinOp(operation.right, node.op, node.right))
        yield moved, "the order of two operations", 1, None
    if isinstance(node.right, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div, ast.Add, ast.Sub)):
        operation = node.right
        moved = ast.BinOp(ast.BinOp(node.left, node.op, operation.left), operation.op, operation.right)
        yield moved, "the order of two operations", 1, None


def _other_orders(node: ast.Tuple | ast.List) -> Iterator[Replacement]:
    kind: type[ast.Tuple | ast.List] = type(node)
    for index in range(len(node.elts) - 1):
        swapped = [*node.elts]
        swapped[index], swapped[index + 1] = swapped[index + 1], swapped[index]
        yield kind(swapped, ast.Load()), ORDER_OF_PARTS, 0, None
    if len(node.elts) > 2:
        yield kind([*node.elts[1:], node.elts[0]], ast.Load()), ORDER_OF_PARTS, 0, None
        yield kind([node.elts[-1], *node.elts[:-1]], ast.Load()), ORDER_OF_PARTS, 0, None
