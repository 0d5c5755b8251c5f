"""Edits of expressions: arguments, operands, names, calls, constants, and what may be missing around one."""

import ast
from collections.abc import Iterator

from grader.judge.where.calls import other_calls
from grader.judge.where.edits import Change, Edit, Function, Replacement, Scope
from grader.judge.where.nodes import (
    around_of,
    called,
    constant,
    expression,
    is_docstring,
    number_of,
    root,
    turned,
    where_of,
)
from grader.judge.where.vocabulary import COMPARISONS, MISSING, OPERATORS, SWAPPED, TURNS, WRAPS

SKIPPED = ("annotation", "returns", "decorator_list", "type_params")

Slot = tuple[ast.AST, str, int | None]


def expression_edits(function: Function, scope: Scope) -> Iterator[Edit]:
    """Edits of every expression of a function, in the order in which they stand there."""
    computes = function.name != "__init__"
    for node, slot, around in slots(function):
        for new, kind, tier, sign in _replacements(node, around, scope):
            yield Edit((Change(*slot, new),), node.lineno, kind, tier, sign)
        if _may_be_wrapped(node, around):
            later = 0 if isinstance(around, (ast.Assign, ast.Return)) else 1
            wrapped = _wrapped(node, around, scope) if computes else _kept(node)
            for new, kind, tier, sign in wrapped:
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
        yield from _other_subscripts(node)
    elif isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) > 1:
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


def _other_subscripts(node: ast.Subscript) -> Iterator[Replacement]:
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


def _other_orders(node: ast.Tuple | ast.List) -> Iterator[Replacement]:
    kind: type[ast.Tuple | ast.List] = type(node)
    for index in range(len(node.elts) - 1):
        swapped = [*node.elts]
        swapped[index], swapped[index + 1] = swapped[index + 1], swapped[index]
        yield kind(swapped, ast.Load()), "the order of the parts", 0, None
    if len(node.elts) > 2:
        yield kind([*node.elts[1:], node.elts[0]], ast.Load()), "the order of the parts", 0, None
        yield kind([node.elts[-1], *node.elts[:-1]], ast.Load()), "the order of the parts", 0, None


def _may_be_wrapped(node: ast.expr, around: ast.AST) -> bool:
    """Whether something of its own could stand around it: a value that is computed with."""
    if isinstance(node, (ast.Constant, ast.Tuple, ast.List, ast.Slice, ast.Starred, ast.Dict, ast.Lambda)):
        return False
    if isinstance(around, (ast.Attribute, ast.keyword, ast.Subscript)) and not isinstance(around, ast.Subscript):
        return isinstance(around, ast.keyword)
    return not (isinstance(node, ast.Name) and node.id in ("self", "super", "torch", "math", "nn", "F"))


def _wrapped(node: ast.expr, around: ast.AST, scope: Scope) -> Iterator[Replacement]:
    operand = isinstance(around, ast.BinOp) and isinstance(around.op, ast.MatMult)
    operand = operand or (isinstance(around, ast.Call) and called(around) in ("matmul", "bmm", "mm", "dot"))
    for turn in TURNS if operand else TURNS[:2]:
        yield turned(node, turn), "a transpose", 0 if operand else 1, ("turned", turn)
    if isinstance(around, ast.BinOp) and isinstance(around.op, (ast.Div, ast.Mult)) and around.right is node:
        yield root(node), "the scale", 0, ("root of",)
    if (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.MatMult, ast.Mult))) or isinstance(
        node, (ast.Call, ast.Name)
    ):
        sizes = [f"{name}.shape[-1]" for name in scope.values[:8]] + [f"self.{name}" for name in scope.attributes[:8]]
        for size in (*sizes, *scope.values[:8]):
            yield ast.BinOp(node, ast.Div(), root(expression(size))), "the scale", 1, ("scaled", size)
    for tier, texts in enumerate(WRAPS, 1):
        for text in texts:
            yield around_of(node, text), MISSING, tier, ("wrapped", text)
    for mask in ("float('-inf')", "0.0"):
        text = f"(E).masked_fill((E).new_ones((E).shape[-2:]).triu(1).bool(), {mask})"
        yield around_of(node, text), MISSING, 1, ("masked", mask)
    for layer in scope.layers[:6]:
        yield around_of(node, f"self.{layer}(E)"), MISSING, 1, None
    for name in scope.values[:6]:
        for operator in ("@", "+", "*"):
            yield around_of(node, f"(E) {operator} {name}"), MISSING, 2, None
        yield around_of(node, f"(E).to({name}.dtype)"), MISSING, 2, None


def _kept(node: ast.expr) -> Iterator[Replacement]:
    """What makes a value a part of its module, and what draws or shapes it otherwise."""
    for text in ("nn.Parameter(E)", "torch.nn.Parameter(E)", "nn.ModuleList(E)", "torch.nn.ModuleList(E)"):
        yield around_of(node, text), MISSING, 1, ("kept", text)
    for text in ("(E).bool()", "(E).T", "(E) + 1", "(E) - 1", "(E) // 2", "(E) * 2", "(E) ** 0.5", "1 - (E)"):
        yield around_of(node, text), MISSING, 2, ("wrapped", text)
