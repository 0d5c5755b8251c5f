"""Makes a source in which every value that a statement computes can be read and replaced from outside.

It is the learner's own with calls of `where_given`; the functions that it asks for stand at its end.
"""

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.judge.where.edits import Change, Tree, Unit
from grader.judge.where.nodes import is_docstring, parameters

GIVEN, PUT, LOG = "where_given", "where_put", "where_log"
SUPPORT = f"""
import torch as _where_torch
_where_values, _where_seen = {{}}, []
def _where_whole(value):
    if isinstance(value, (list, tuple)) and value and all(isinstance(one, _where_torch.Tensor) for one in value):
        return _where_torch.stack(list(value)) if len({{one.shape for one in value}}) == 1 else None
    return value if isinstance(value, _where_torch.Tensor) else None
def {GIVEN}(mark, value):
    whole = _where_whole(value)
    if mark in _where_values:
        put = _where_values[mark]
        if whole is not None:
            put = put.to(whole.dtype)
        value = type(value)(put.unbind(0)) if isinstance(value, (list, tuple)) else put
    if len(_where_seen) < 400:
        _where_seen.append([mark, whole.detach().clone() if whole is not None and whole.numel() <= 4096 else None])
    return value
def {PUT}(mark, value):
    _where_seen.clear()
    _where_values.clear()
    if mark >= 0:
        _where_values[mark] = value
def {LOG}():
    return list(_where_seen)
"""


@dataclass(frozen=True)
class Mark:
    """A value that is assigned to a name, or returned, or an operation or call within such an expression.

    name: the name, "" where there is none. reads: the names that the statement reads. is_input: whether the value is a
    parameter. number: the mark's number among all marks of the source.
    """

    unit: Unit
    line: int
    name: str
    reads: frozenset[str] = frozenset()
    is_input: bool = False
    number: int = -1

    @property
    def uses_self(self) -> bool:
        return "self" in self.reads


def marked(tree: Tree, units: Sequence[Unit]) -> tuple[str, list[Mark]]:
    """The source with marks in these definitions, and the marks in the order of their numbers.

    Statements in a loop get no mark, as they have many values. Raises ValueError where no source can be made.
    """
    marks: list[Mark] = []
    changes = []
    for unit in units:
        node = copy.deepcopy(unit.node)
        docstring, body = (node.body[:1], node.body[1:]) if is_docstring(node.body[0]) else ([], node.body)
        arguments = [parameter.arg for parameter in parameters(node)]
        inputs = [Mark(unit, node.lineno, name, is_input=True) for name in arguments if name not in ("self", "cls")]
        node.body = [*docstring, *_marking_statements(inputs, marks), *_body(body, unit, marks)]
        holder = unit.owner or tree.module
        changes.append(Change(holder, "body", holder.body.index(unit.node), node))
    return tree.changed(tuple(changes), {unit.top for unit in units}) + SUPPORT, marks


def _body(body: list[ast.stmt], unit: Unit, marks: list[Mark]) -> list[ast.stmt]:
    marked_body: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, (ast.If, ast.With)):
            statement.body = _body(statement.body, unit, marks)
            if isinstance(statement, ast.If):
                statement.orelse = _body(statement.orelse, unit, marks)
        reads = _read(statement)
        if (
            isinstance(statement, (ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign))
            and statement.value is not None
        ):
            statement.value = _ExpressionMarker(unit, marks).visit(statement.value)
        if isinstance(statement, ast.Return) and statement.value is not None:
            statement.value = _call(Mark(unit, statement.lineno, "", reads), statement.value, marks)
        marked_body.append(statement)
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and statement.value is not None:
            new_marks = [Mark(unit, statement.lineno, name, reads) for name in dict.fromkeys(_stored(statement))]
            marked_body += _marking_statements(new_marks, marks)
    return marked_body


class _ExpressionMarker(ast.NodeTransformer):
    """Puts a mark on each operation and each call within an expression."""

    def __init__(self, unit: Unit, marks: list[Mark]):
        self.unit, self.marks = unit, marks

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return self._marked(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        return self._marked(node)

    def _marked(self, node: ast.expr) -> ast.AST:
        reads = _read(node)
        self.generic_visit(node)
        return _call(Mark(self.unit, node.lineno, "", reads), node, self.marks)

    def _unchanged(self, node: ast.AST) -> ast.AST:
        return node  # it may be computed many times

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda = visit_JoinedStr = _unchanged


def _marking_statements(new_marks: list[Mark], marks: list[Mark]) -> Iterator[ast.stmt]:
    for mark in new_marks:
        value = _call(mark, ast.Name(mark.name, ast.Load()), marks)
        yield ast.Assign([ast.Name(mark.name, ast.Store())], value, lineno=0)


def _call(mark: Mark, value: ast.expr, marks: list[Mark]) -> ast.Call:
    marks.append(replace(mark, number=len(marks)))
    return ast.Call(ast.Name(GIVEN, ast.Load()), [ast.Constant(len(marks) - 1), value], [])


def _read(node: ast.AST) -> frozenset[str]:
    """The names that a node reads, without those of its comprehensions."""
    names = {child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load)}
    targets = [child.target for child in ast.walk(node) if isinstance(child, ast.comprehension)]
    comprehension_names = {child.id for target in targets for child in ast.walk(target) if isinstance(child, ast.Name)}
    changed = {node.target.id} if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) else set()
    return frozenset((names - comprehension_names) | changed)


def _stored(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Iterator[str]:
    """The names to which a statement assigns, or of whose value it changes a part."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        for element in target.elts if isinstance(target, ast.Tuple) else [target]:
            container = element.value if isinstance(element, ast.Subscript) else element
            if isinstance(container, ast.Name):
                yield container.id
