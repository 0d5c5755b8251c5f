"""One stretch of statements that differs from the solution: it is replaced as a whole, however many stand there."""

import ast
from collections.abc import Sequence

from grader.judge.where.alignment import Alignment, same
from grader.judge.where.donors import named
from grader.judge.where.edits import Change
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
    if any(named(node) & own for node in old):
        return None
    if any(hasattr(node, "body") for node in old) and len(old) > 1:
        return None
    docstring = function.body[: len(function.body) - len(mine)]
    body = [*docstring, *mine[:first], *put, *mine[len(mine) - last :]]
    lines = tuple(node.lineno for node in old)
    return Step((Change(function, "body", None, body or [ast.Pass()]),), lines[0]), lines


def _common(mine: Sequence[ast.stmt], theirs: Sequence[ast.stmt | None]) -> int:
    """How many statements at the beginning are the same."""
    number = 0
    for one, other in zip(mine, theirs):
        if other is None or not same(one, other):
            break
        number += 1
    return number
