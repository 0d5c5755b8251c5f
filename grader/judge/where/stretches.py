"""One stretch of statements that differs from the solution: it is replaced as a whole, however many stand there."""

import ast
from collections.abc import Sequence

from grader.judge.where.alignment import Alignment
from grader.judge.where.donors import named
from grader.judge.where.edits import Change
from grader.judge.where.equal_statements import same
from grader.judge.where.nodes import is_docstring
from grader.judge.where.several import Step

MOST = 4  # statements of the learner's in it
MOST_THEIRS = 12


def stretch(alignment: Alignment, own: frozenset[str] = frozenset()) -> tuple[Step, tuple[int, ...]] | None:
    """The change that makes the definition the solution's, and the lines of what it replaces.

    None where that is most of the definition: nothing would be said by it. own: names that no change goes
    round, as the mistake may be there.
    """
    function = alignment.unit.node
    mine = [node for node in function.body if not is_docstring(node)]
    theirs = [alignment.with_free_names(node) for node in alignment.twin.node.body if not is_docstring(node)]
    first = _common(mine, theirs)
    last = _common(mine[first:][::-1], theirs[first:][::-1])
    old, new = mine[first : len(mine) - last], theirs[first : len(theirs) - last]
    put = [node for node in new if node is not None]
    if len(put) < len(new) or len(new) > MOST_THEIRS or not 0 < len(old) <= MOST or 2 < len(mine) <= len(old):
        return None
    if len(old) == len(put) == 1 and hasattr(old[0], "body"):
        return _within(old[0], put[0], own)
    if any(named(node) & own for node in old):
        return None
    if any(hasattr(node, "body") for node in old) and len(old) > 1:
        return None
    docstring = function.body[: len(function.body) - len(mine)]
    body = [*docstring, *mine[:first], *put, *mine[len(mine) - last :]]
    lines = tuple(node.lineno for node in old if not _is_aside(node)) or (old[0].lineno,)
    return Step((Change(function, "body", None, body or [ast.Pass()]),), lines[0]), lines


def _is_aside(node: ast.stmt) -> bool:
    """Whether a statement can hardly be the mistake: something printed or asserted, or a text."""
    if isinstance(node, ast.Expr):
        value = node.value
        return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and ast.unparse(value.func) == "print")
    return isinstance(node, (ast.Assert, ast.Pass))


def _within(old: ast.stmt, new: ast.stmt, own: frozenset[str]) -> tuple[Step, tuple[int, ...]] | None:
    """The one statement that differs in two loops or conditions whose heads are the same."""
    mine, theirs = getattr(old, "body", []), getattr(new, "body", [])
    pairs = [(n, one, other) for n, (one, other) in enumerate(zip(mine, theirs)) if not same(one, other)]
    if type(old) is not type(new) or len(mine) != len(theirs) or len(pairs) != 1:
        return None
    number, one, other = pairs[0]
    if hasattr(one, "body") and hasattr(other, "body"):
        return _within(one, other, own)
    if named(one) & own:
        return None
    return Step((Change(old, "body", number, other),), one.lineno), (one.lineno,)


def _common(mine: Sequence[ast.stmt], theirs: Sequence[ast.stmt | None]) -> int:
    """How many statements at the beginning are the same."""
    number = 0
    for one, other in zip(mine, theirs):
        if other is None or not same(one, other):
            break
        number += 1
    return number
