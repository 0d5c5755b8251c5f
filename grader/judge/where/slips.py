"""Edits that undo the commonest slips, and those that take away what cuts a gradient: they are few, and tried first."""

import ast
from collections.abc import Iterator

from grader.judge.where.donors import names_in
from grader.judge.where.edits import SLIP, Change, Edit, Scope, Unit, together
from grader.judge.where.expressions import expression_edits
from grader.judge.where.statements import A_STATEMENT, bodies, statement_edits

CUTTING = frozenset(("float", "Parameter", "detach", "detach_", "item", "tolist", "numpy", "tensor"))  # calls
CUTTING_BLOCKS = frozenset(("no_grad", "inference_mode", "set_grad_enabled"))
CUTTING_STATEMENTS = frozenset(("detach_", "requires_grad_", "set_grad_enabled"))


def slips(unit: Unit) -> Iterator[Edit]:
    """The edits of a definition that undo a very common slip."""
    scope = Scope.of(unit)
    edits = (*expression_edits(unit.node, scope), *statement_edits(unit.node, scope, unit.owner is not None))
    found = [edit for edit in edits if edit.tier == SLIP]
    yield from (*found, *together(found))


def uncutting_edits(unit: Unit) -> Iterator[Edit]:
    """The edits of a definition after which a gradient flows back through what is computed there.

    Each takes away one call, block, decorator or statement; at last come those that take away all calls of one kind.
    """
    calls = [edit for edit in expression_edits(unit.node, Scope.of(unit)) if _takes_away_a_cut(edit)]
    yield from calls
    for parent, field, body in bodies(unit.node):
        for index, statement in enumerate(body):
            kept: list[ast.stmt] | None = None
            if isinstance(statement, ast.With) and any(names_in(item) & CUTTING_BLOCKS for item in statement.items):
                kept, kind = statement.body, "the with statement"
            elif isinstance(statement, ast.Expr) and names_in(statement) & CUTTING_STATEMENTS:
                kept, kind = [], A_STATEMENT
            if kept is not None:
                changed = [*body[:index], *kept, *body[index + 1 :]] or [ast.Pass()]
                yield Edit((Change(parent, field, None, changed),), statement.lineno, kind, SLIP)
    decorators = unit.node.decorator_list
    for decorator in decorators:
        if names_in(decorator) & CUTTING_BLOCKS:
            others = [other for other in decorators if other is not decorator]
            yield Edit((Change(unit.node, "decorator_list", None, others),), decorator.lineno, "a decorator", SLIP)
    yield from together(calls)


def _takes_away_a_cut(edit: Edit) -> bool:
    if edit.sign is None:
        return False
    return edit.sign == ("plain", "data") or (edit.sign[0] == "without" and edit.sign[1] in CUTTING)
