"""Several mistakes in one definition: all odd statements are replaced at once, and what was not needed is taken back.

Minimising a set of changes: Zeller and Hildebrandt 2002 (delta debugging).
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grader.judge.where.alignment import Alignment, share
from grader.judge.where.donors import LEAST, assigned, goes_round, named
from grader.judge.where.edits import Change
from grader.judge.where.guidance import words
from grader.judge.where.statements import bodies

MAX_CHANGES = 10  # that are made at once
SAME_TARGET = 0.5  # what it adds to the likeness of two statements that they give a value to the same
PARTS = {ast.If: ("test",), ast.While: ("test",), ast.For: ("target", "iter"), ast.With: ("items",)}


@dataclass(frozen=True)
class Step:
    """Changes of one statement, and its line."""

    changes: tuple[Change, ...]
    line: int


def steps(alignment: Alignment, helpers: frozenset[str]) -> tuple[list[Step], list[Step]]:
    """What makes the definition the solution's: statements replaced, and statements put in or left out."""
    places = {
        id(node): (parent, field, number)
        for parent, field, body in bodies(alignment.unit.node)
        for number, node in enumerate(body)
    }
    pairs = [
        (_likeness(old, new), -number, -other, old, new)
        for number, old in enumerate(alignment.odd)
        for other, new in enumerate(alignment.missing)
        if type(old) is type(new) or not (hasattr(old, "body") or hasattr(new, "body") or isinstance(new, ast.Return))
    ]
    made = assigned(alignment.unit.node)
    replaced: list[Step] = []
    used: set[int] = set()
    for likeness, _, _, old, new in sorted(pairs, key=lambda pair: pair[:3], reverse=True):
        if likeness < LEAST or {id(old), id(new)} & used or named(_head(old)) & helpers or id(old) not in places:
            continue
        if goes_round(old, new, made):
            continue
        used |= {id(old), id(new)}
        parts = PARTS.get(type(old))
        if parts:
            changes = tuple(Change(old, part, None, getattr(new, part)) for part in parts)
        else:
            changes = (Change(*places[id(old)], new),)
        replaced.append(Step(changes, old.lineno))
    others = [
        Step((Change(*places[id(old)], ast.Pass()),), old.lineno)
        for old in alignment.odd
        if id(old) not in used and id(old) in places and not named(old) & helpers and not isinstance(old, ast.Return)
    ]
    return replaced, others


def needed(found: Sequence[Step], mends: Callable[[Sequence[Step]], bool]) -> list[Step]:
    """Those of the steps that it does not go without. mends: whether these make the checks pass; all of them do."""
    kept = list(found)
    for step in found:
        rest = [one for one in kept if one is not step]
        if rest and mends(rest):
            kept = rest
    return kept


def _likeness(old: ast.stmt, new: ast.stmt) -> float:
    """How alike two statements are: those that give a value to the same thing are more."""
    found = share(words(_head(old)), words(_head(new)))
    if not (isinstance(old, ast.Assign) and isinstance(new, ast.Assign)):
        return found
    targets = [[ast.unparse(one) for one in node.targets] for node in (old, new)]
    return found + SAME_TARGET * (targets[0] == targets[1])


def _head(node: ast.stmt) -> ast.AST:
    """A statement without what stands in it."""
    parts = PARTS.get(type(node))
    if not parts:
        return node
    held = [getattr(node, part) for part in parts]
    return ast.Tuple([one for one in held if isinstance(one, ast.expr)], ast.Load())
