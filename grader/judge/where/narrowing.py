"""Of two lines that were replaced together, perhaps one is right: the other alone is given the solution's value.

The new value reads what the right line computes, so a mistake there would show.
"""

import ast
import copy
from collections.abc import Iterator, Sequence
from typing import Any

from grader.judge.where.alignment import Alignment, Substitution
from grader.judge.where.donors import narrow
from grader.judge.where.edits import Change, Edit, is_docstring, parameter_names
from grader.judge.where.statements import bound_names

MAX_EDITS = 200  # of one statement


def one_statement_edits(alignment: Alignment, line: int, other_lines: Sequence[int]) -> Iterator[Edit]:
    """Edits that give the statement on a line a value of the solution's, which reads the names of the lines before it.

    other_lines: the other lines that were replaced.
    """
    whole = _returned_value(alignment)
    statement = next((node for node in alignment.unit.node.body if node.lineno == line), None)
    if whole is None or not isinstance(statement, (ast.Assign, ast.Return)) or statement.value is None:
        return
    before = [name for name, place in bound_names(alignment.unit.node) if place in other_lines and place < line]
    donors = [whole] if isinstance(statement, ast.Return) else _parts(whole)
    values = (value for donor in donors for value in (_with_names(donor, before) if before else [donor]))
    for _, value in zip(range(MAX_EDITS), values):
        part, kind = narrow(statement.value, value)
        yield Edit((Change(statement, "value", None, value),), part.lineno, kind, 0)


def _returned_value(alignment: Alignment) -> ast.expr | None:
    """What the solution returns, with the values of its local names put in, in the learner's names of the parameters.

    None where the solution is more than assignments and a return.
    """
    values: dict[str, ast.expr] = {
        name: ast.Name(alignment.names[name], ast.Load()) for name in parameter_names(alignment.twin.node)
    }
    put_in = Substitution(values, alignment.own_attribute)
    for statement in alignment.twin.node.body:
        if is_docstring(statement):
            continue
        if isinstance(statement, ast.Return) and statement.value is not None:
            returned: ast.expr = put_in.visit(copy.deepcopy(statement.value))
            return returned
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], (ast.Name, ast.Tuple)):
            return None
        value: ast.expr = put_in.visit(copy.deepcopy(statement.value))
        target = statement.targets[0]
        for index, element in enumerate(target.elts if isinstance(target, ast.Tuple) else ()):
            if isinstance(element, ast.Name):
                values[element.id] = ast.Subscript(value, ast.Constant(index), ast.Load())
        if isinstance(target, ast.Name):
            values[target.id] = value
    return None


class _Exchange(ast.NodeTransformer):
    """Replaces every part with this text by a name."""

    def __init__(self, text: str, name: str):
        self.text, self.name = text, name

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and ast.unparse(node) == self.text:
            return ast.Name(self.name, ast.Load())
        return super().visit(node)


def _with_names(value: ast.expr, names: Sequence[str]) -> Iterator[ast.expr]:
    """The value with one of its parts, wherever that occurs, replaced by one of these names."""
    for part in _parts(value):
        for name in names:
            changed: ast.expr = _Exchange(ast.unparse(part), name).visit(copy.deepcopy(value))
            yield changed


def _parts(value: ast.expr) -> list[ast.expr]:
    """The operations, calls and subscripts in an expression, each once."""
    kinds = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Subscript, ast.Compare)
    parts = {ast.unparse(node): node for node in ast.walk(value) if isinstance(node, kinds)}
    return list(parts.values())
