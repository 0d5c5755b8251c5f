"""Edits of what a function returns, and statements that keep a result which is only computed."""

import ast
from collections.abc import Iterator

from grader.judge.where.edits import Change, Edit, Function
from grader.judge.where.nodes import substituted
from grader.judge.where.scope import Scope
from grader.judge.where.vocabulary import MISSING

A_RETURN, NOT_KEPT = "what is returned", "a result that is not kept"


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
                wrapped = substituted(statement.value, text)
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
