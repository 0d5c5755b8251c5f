"""Edits of expressions: operands, names, numbers, conditions, the order of parts; calls, indices and wraps beside."""

import ast
import itertools
from collections.abc import Iterator

from grader.judge.where.calls import other_calls
from grader.judge.where.edits import Change, Edit, Function, Replacement
from grader.judge.where.nodes import constant, expression, is_docstring, number_of, root, turned, where_of
from grader.judge.where.scope import Scope
from grader.judge.where.subscripts import other_subscripts
from grader.judge.where.vocabulary import COMPARISONS, OPERATORS, SWAPPED, TURNS
from grader.judge.where.wraps import iterated, kept, may_be_wrapped, sizes, wrapped

SKIPPED = ("annotation", "returns", "decorator_list", "type_params")

Slot = tuple[ast.AST, str, int | None]


def expression_edits(function: Function, scope: Scope) -> Iterator[Edit]:
    """Edits of every expression of a function, in the order in which they stand there."""
    computes = function.name != "__init__"
    for node, slot, around in slots(function):
        replacements = (_replacements(node, around, scope), sizes(node, around, scope), iterated(node, around))
        for new, kind, tier, sign in itertools.chain(*replacements):
            yield Edit((Change(*slot, new),), node.lineno, kind, tier, sign)
        if may_be_wrapped(node, around):
            later = 0 if isinstance(around, (ast.Assign, ast.Return)) else 1
            found = wrapped(node, around, scope) if computes else kept(node)
            for new, kind, tier, sign in found:
                yield Edit((Change(*slot, new),), node.lineno, kind, tier + later if tier else 0, sign)


def slots(function: Function) -> Iterator[tuple[ast.expr, Slot, ast.AST]]:
    """Every expression that is computed, the slot where it stands, and the node around it."""
    waiting: list[ast.AST] = [function]
    while waiting:
        parent = waiting.pop(0)
        for field, value in ast.iter_fields(parent):
            if field in SKIPPED or (field == "func" and isinstance(value, ast.Name)):
                continue
            for index, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(item, ast.AST) or is_docstring(item):
                    continue
                if isinstance(item, (ast.JoinedStr, ast.Raise)):  # the words of an error
                    continue
                if isinstance(item, ast.expr) and not isinstance(getattr(item, "ctx", None), (ast.Store, ast.Del)):
                    yield item, (parent, field, index), parent
                waiting.append(item)


def _replacements(node: ast.expr, around: ast.AST, scope: Scope) -> Iterator[Replacement]:
    number = number_of(node)
    if number is not None and not isinstance(getattr(around, "op", None), ast.USub):
        yield from _other_numbers(node, number, around, scope)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value), where_of(around), 0, ("flag", where_of(around))
    elif isinstance(node, ast.Name) and node.id in scope.values:
        yield from _other_names(node, scope)
    elif isinstance(node, ast.Attribute):
        yield from _other_attributes(node, scope)
    elif isinstance(node, ast.Call):
        yield from other_calls(node, scope)
    elif isinstance(node, ast.BinOp):
        yield from _other_operations(node)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in COMPARISONS.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [other()], node.comparators), "a comparison", 1, None
    elif isinstance(node, ast.BoolOp):
        other_op: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield ast.BoolOp(other_op, node.values), "a condition", 2, None
        yield from ((value, "a condition", 2, None) for value in node.values)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand, "a sign" if isinstance(node.op, ast.USub) else "a negation", 0, ("unary",)
    elif isinstance(node, ast.IfExp):
        yield from ((part, "a condition", 2, None) for part in (node.body, node.orelse))
        yield ast.IfExp(node.test, node.orelse, node.body), "a condition", 2, None
    elif isinstance(node, ast.Subscript):
        yield from other_subscripts(node)
    elif isinstance(node, (ast.Tuple, ast.List)) and node.elts:
        other_kind = ast.List if isinstance(node, ast.Tuple) else ast.Tuple
        if not isinstance(around, ast.Subscript):
            yield other_kind(node.elts, ast.Load()), "whether it is a tuple or a list", 0, None
        yield from _other_orders(node)


def _other_numbers(node: ast.expr, number: float, around: ast.AST, scope: Scope) -> Iterator[Replacement]:
    where = where_of(around)
    if isinstance(number, int):
        near = (-1, -2, 0, 1, 2, -3, 3) if "argument" in where or "index" in where else ()
        far = (number - 1, number + 1, 0, 1, 2, -number)
        for value in dict.fromkeys((*near, *far)):
            if value != number:
                yield constant(value), where, 0 if near else 1, ("number", where, number, value)
        for name in scope.dims if near else ():
            yield ast.Name(name, ast.Load()), where, 0, ("number", where, number, name)
        for tier, name in enumerate(scope.values[:6], 1):
            yield expression(f"{name}.shape[-1]"), "a size", 1 if tier < 4 else 2, None
            yield expression(f"{name}.shape[-2]"), "a size", 2, None
            yield ast.Name(name, ast.Load()), "a size", 1 if tier < 4 else 2, None
        for name in scope.attributes[:8]:
            yield expression(f"self.{name}"), "a size", 3, None
    else:
        for text in ("float('-inf')", "0.0", "1.0", "0.5", "-0.5", f"-({number})"):
            yield expression(text), where, 0, ("number", where, number, text)


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
        for turn in TURNS[:3] if node.attr != "data" else ():
            yield turned(node.value, turn), "a transpose", 0, ("turn", turn)


def _other_operations(node: ast.BinOp) -> Iterator[Replacement]:
    if isinstance(node.op, SWAPPED):
        yield ast.BinOp(node.right, node.op, node.left), "the order of two operands", 0, ("operands",)
    sign = type(node.op).__name__
    yield node.left, "an operand", 0, ("left", sign)
    yield node.right, "an operand", 0, ("right", sign)
    for other in OPERATORS.get(type(node.op), ()):
        yield ast.BinOp(node.left, other(), node.right), "an operator", 0, ("operator", sign, other.__name__)
    if isinstance(node.op, (ast.Div, ast.Mult)):
        yield ast.BinOp(node.left, node.op, root(node.right)), "the scale", 0, ("root",)
    if isinstance(node.op, (ast.Mult, ast.Div, ast.Add, ast.Sub)) and isinstance(node.left, ast.BinOp):
        inner = node.left  # (a + b) * c for a + b * c, and the reverse
        moved = ast.BinOp(inner.left, inner.op, ast.BinOp(inner.right, node.op, node.right))
        yield moved, "the order of two operations", 1, None
    if isinstance(node.right, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div, ast.Add, ast.Sub)):
        inner = node.right
        moved = ast.BinOp(ast.BinOp(node.left, node.op, inner.left), inner.op, inner.right)
        yield moved, "the order of two operations", 1, None


def _other_orders(node: ast.Tuple | ast.List) -> Iterator[Replacement]:
    kind: type[ast.Tuple | ast.List] = type(node)
    for index in range(len(node.elts) - 1):
        swapped = [*node.elts]
        swapped[index], swapped[index + 1] = swapped[index + 1], swapped[index]
        yield kind(swapped, ast.Load()), "the order of the parts", 0, None
    if len(node.elts) > 2:
        yield kind([*node.elts[1:], node.elts[0]], ast.Load()), "the order of the parts", 0, None
        yield kind([node.elts[-1], *node.elts[:-1]], ast.Load()), "the order of the parts", 0, None
