"""Edits of statements: removed, moved, returned, kept, bypassed, in another order or with other conditions."""

import ast
import itertools
from collections.abc import Iterator, Sequence
from typing import TypeVar

from grader.judge.where.edits import (
    MISSING,
    SLIP,
    Change,
    Edit,
    Function,
    Scope,
    Unit,
    apply,
    called_name,
    is_own_attribute,
    names_read,
    stored_names,
    substitute,
)
from grader.records.syntax import is_text

Item = TypeVar("Item")
A_RETURN, NOT_KEPT = "what is returned", "a result that is not kept"
REQUIRED_DECORATORS = ("staticmethod", "classmethod", "property")
BODIES = ("body", "orelse", "finalbody")
A_STATEMENT, A_CONDITION = "a statement", "a condition"
GRAD_OFF = A_DECORATOR, A_WITH = "a decorator", "the with statement"  # which may be torch.no_grad
AN_ORDER, ORDER_OF_PARAMETERS = "the order of the statements", "the order of the parameters"


def returned(function: Function, scope: Scope) -> Iterator[Edit]:
    """The edits of what a function returns."""
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    for statement in returns:
        for name in scope.values:
            if not (isinstance(statement.value, ast.Name) and statement.value.id == name):
                new = ast.Name(name, ast.Load())
                yield Edit((Change(statement, "value", None, new),), statement.lineno, A_RETURN, 1)
        if statement.value is not None:
            for text in ("torch.tensor(E)", "torch.stack(E)"):
                wrapped = substitute(statement.value, text)
                yield Edit((Change(statement, "value", None, wrapped),), statement.lineno, MISSING, 1)
        if isinstance(statement.value, ast.Tuple):
            for element in statement.value.elts:
                yield Edit((Change(statement, "value", None, element),), statement.lineno, A_RETURN, 0)
    if function.name != "__init__" and not isinstance(function.body[-1], (ast.Return, ast.Raise)):
        last_line = function.body[-1].end_lineno or function.lineno
        for name in reversed(scope.values):
            new_body = [*function.body, ast.Return(ast.Name(name, ast.Load()))]
            yield Edit((Change(function, "body", None, new_body),), last_line, A_RETURN, 0)


def keeping_statements(value: ast.expr) -> Iterator[ast.stmt]:
    """Statements that keep a value which is only computed or printed: `x = x.masked_fill(…)`, or a return of it."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and isinstance(value.func.value, ast.Name):
        yield ast.Assign([ast.Name(value.func.value.id, ast.Store())], value, lineno=0)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print" and value.args:
        yield ast.Return(value.args[0])
    if isinstance(value, ast.Call) and value.args and isinstance(value.args[0], ast.Name):
        yield ast.Assign([ast.Name(value.args[0].id, ast.Store())], value, lineno=0)
    yield ast.Return(value)


def bypassed(unit: Unit, changes: tuple[Change, ...]) -> frozenset[int]:
    """The lines that assign to local names which the changed definition does not read any more."""
    read_before = names_read(unit.node)
    with apply(changes):
        no_longer_read = read_before - names_read(unit.node)
    return frozenset(line for name, line in bound_names(unit.node) if name in no_longer_read)


def statement_edits(function: Function, scope: Scope, is_method: bool) -> Iterator[Edit]:
    """The edits of the statements of a function."""
    if is_method and function.name == "__init__" and "super" not in ast.unparse(function):
        super_call = ast.parse("super().__init__()").body
        yield _body(function, "body", [*super_call, *function.body], function.lineno, MISSING, 0)
    yield from _parameters(function, is_method)
    for index, decorator in enumerate(function.decorator_list):
        if not (isinstance(decorator, ast.Name) and decorator.id in REQUIRED_DECORATORS):
            remaining = [*function.decorator_list[:index], *function.decorator_list[index + 1 :]]
            change = Change(function, "decorator_list", None, remaining)
            yield Edit((change,), decorator.lineno, A_DECORATOR, 0)
    yield from returned(function, scope)
    last = set(map(id, _last_statements(function.body)))
    for parent, field, body in bodies(function):
        for index, statement in enumerate(body):
            before, after = body[:index], body[index + 1 :]
            line = statement.lineno

            def put(new: list[ast.stmt], kind: str, tier: int) -> Edit:
                return _body(parent, field, [*before, *new, *after], line, kind, tier)  # noqa: B023 (used at once)

            if is_text(statement):
                continue
            if len(body) > 1 and not isinstance(statement, ast.Return):
                yield put([], A_STATEMENT, 1)
            if isinstance(statement, ast.Expr):
                kept = keeping_statements(statement.value)
                is_last = id(statement) in last  # nothing behind a return would run any more
                yield from (put([new], NOT_KEPT, 0) for new in kept if is_last or not isinstance(new, ast.Return))
            for new, kind, tier in _replacements_of(statement):
                yield put(new, kind, tier)
        yield from _orders(parent, field, body)


def bodies(function: ast.AST) -> Iterator[tuple[ast.AST, str, list[ast.stmt]]]:
    """Every list of statements in a function, with its parent node and field."""
    for node in ast.walk(function):
        for field in BODIES:
            body = getattr(node, field, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                yield node, field, body


def _last_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements with which a function may end. What is printed behind them does not count."""
    for statement in reversed(body):
        yield statement
        if isinstance(statement, (ast.If, ast.With)):
            yield from _last_statements(statement.body)
            yield from _last_statements(getattr(statement, "orelse", []))
        if not is_aside(statement):
            return


def bound_names(node: ast.AST) -> Iterator[tuple[str, int]]:
    """The local names, with the lines that assign to them, without the names for the sizes of a shape."""
    unpacked_sizes = {
        id(part)
        for statement in ast.walk(node)
        if isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Tuple)
        and _is_size(statement.value)
        for part in ast.walk(statement)
    }
    yield from ((child.id, child.lineno) for child in stored_names(node) if id(child) not in unpacked_sizes)


def _is_size(node: ast.AST) -> bool:
    """Whether an expression reads a size and nothing else: x.shape, x.shape[-1], x.size(1), len(x)."""
    if isinstance(node, ast.Subscript):
        return _is_size(node.value)
    if isinstance(node, ast.Call):
        return called_name(node) in ("size", "len", "dim")
    return isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim", "dtype", "device")


def _body(parent: ast.AST, field: str, statements: list[ast.stmt], line: int, kind: str, tier: int) -> Edit:
    return Edit((Change(parent, field, None, statements or [ast.Pass()]),), line, kind, tier)


def _replacements_of(statement: ast.stmt) -> Iterator[tuple[list[ast.stmt], str, int]]:
    if isinstance(statement, ast.With):
        yield statement.body, A_WITH, 0
    elif isinstance(statement, ast.If):
        yield [ast.If(ast.UnaryOp(ast.Not(), statement.test), statement.body, statement.orelse)], A_CONDITION, 2
        yield statement.body, A_CONDITION, 2
        yield statement.orelse, A_CONDITION, 2
    elif isinstance(statement, ast.Assert):
        raised = ast.Raise(ast.Call(ast.Name("ValueError", ast.Load()), [statement.msg or ast.Constant("")], []), None)
        yield [ast.If(ast.UnaryOp(ast.Not(), statement.test), [raised], [])], "the kind of the error", 0
    elif isinstance(statement, ast.Raise) and statement.exc is not None:
        value = statement.exc
        arguments = value.args if isinstance(value, ast.Call) else []
        for name in ("ValueError", "TypeError", "IndexError", "KeyError"):
            yield [ast.Raise(ast.Call(ast.Name(name, ast.Load()), arguments, []), None)], "the kind of the error", 0
    elif isinstance(statement, ast.AugAssign):
        target = statement.target
        yield [ast.Assign([target], statement.value, lineno=0)], "an assignment", 1
        load = ast.parse(ast.unparse(target), mode="eval").body
        yield [ast.Assign([target], ast.BinOp(load, statement.op, statement.value), lineno=0)], "a change in place", 0
    elif isinstance(statement, ast.Assign):
        yield from _assignments(statement)


def _assignments(statement: ast.Assign) -> Iterator[tuple[list[ast.stmt], str, int]]:
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and len(target.elts) > 1:
        for elements in exchange(target.elts):
            yield [ast.Assign([ast.Tuple(elements, ast.Store())], value, lineno=0)], "the order of the names", 0
    if is_own_attribute(target):
        registered = f"self.register_buffer({target.attr!r}, None)"
        call = ast.parse(registered).body[0]
        assert isinstance(call, ast.Expr) and isinstance(call.value, ast.Call)
        call.value.args[1] = value
        yield [call], "how a part of the module is kept", 1
    if isinstance(target, ast.Subscript):
        yield [ast.AugAssign(target, ast.Add(), value)], "an assignment", SLIP
    if isinstance(target, ast.Name):
        load = ast.Name(target.id, ast.Load())
        for operator in (ast.Add(), ast.Mult()):
            yield [ast.AugAssign(target, operator, value)], "an assignment", 2
        yield [ast.Assign([target], ast.BinOp(load, ast.Add(), value), lineno=0)], "an assignment", 2


def _orders(parent: ast.AST, field: str, body: list[ast.stmt]) -> Iterator[Edit]:
    """Exchanges two statements, neighbours first, and rotates three in a row."""
    movable = [
        index for index, statement in enumerate(body) if isinstance(statement, (ast.Assign, ast.Expr, ast.AugAssign))
    ]
    pairs = sorted(itertools.combinations(movable, 2), key=lambda pair: pair[1] - pair[0])
    for first, second in pairs[:60]:
        reordered = [*body]
        reordered[first], reordered[second] = reordered[second], reordered[first]
        edit = _body(parent, field, reordered, body[first].lineno, AN_ORDER, 1)
        lines: tuple[int, ...] = (body[first].lineno, body[second].lineno)
        yield Edit(edit.changes, edit.line, AN_ORDER, 1, None, lines)
    for start in (index for index in movable if {index + 1, index + 2} <= set(movable)):
        one, two, three = body[start : start + 3]
        for turned in ([two, three, one], [three, one, two]):
            reordered = [*body[:start], *turned, *body[start + 3 :]]
            lines = tuple(statement.lineno for statement in (one, two, three))
            yield Edit((Change(parent, field, None, reordered),), one.lineno, AN_ORDER, 1, None, lines)


def _parameters(function: Function, is_method: bool) -> Iterator[Edit]:
    names, first = function.args.args, int(is_method)
    for index in range(first, len(names) - 1):
        reordered = [*names]
        reordered[index], reordered[index + 1] = reordered[index + 1], reordered[index]
        yield Edit((Change(function.args, "args", None, reordered),), function.lineno, ORDER_OF_PARAMETERS, 1)


def exchange(items: Sequence[Item]) -> Iterator[list[Item]]:
    """The items with two of them exchanged, for each two."""
    for first, second in itertools.combinations(range(len(items)), 2):
        others = [*items]
        others[first], others[second] = others[second], others[first]
        yield others


def is_aside(node: ast.AST) -> bool:
    """Whether a statement can hardly be the mistake: it prints, asserts, or is only a text."""
    if isinstance(node, ast.Expr):
        value = node.value
        return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and ast.unparse(value.func) == "print")
    return isinstance(node, (ast.Assert, ast.Pass))
