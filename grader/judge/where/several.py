"""Several mistakes in one definition: all unmatched statements are replaced at once, and unneeded changes taken back.

Minimising a set of changes: Zeller and Hildebrandt 2002 (delta debugging).
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grader.judge.where.alignment import Alignment, similarity
from grader.judge.where.donors import MIN_SIMILARITY, assigned_names, bypasses_value, names_in
from grader.judge.where.edits import Change
from grader.judge.where.guidance import words
from grader.judge.where.statements import bodies

MAX_CHANGES = 10  # changes that are made at once
SAME_TARGET = 0.5  # added to the similarity of two statements that assign to the same target
HEAD_FIELDS = {ast.If: ("test",), ast.While: ("test",), ast.For: ("target", "iter"), ast.With: ("items",)}


@dataclass(frozen=True)
class Step:
    """The changes of one statement, and its line."""

    changes: tuple[Change, ...]
    line: int


def steps(alignment: Alignment, helpers: frozenset[str]) -> tuple[list[Step], list[Step]]:
    """The steps towards the solution's definition: those that replace a statement, and those that remove one.

    helpers: names of the learner's; statements that use one are not touched, as the mistake may be in the helper.
    """
    slots_by_id = {
        id(node): (parent, body_field, number)
        for parent, body_field, body in bodies(alignment.unit.node)
        for number, node in enumerate(body)
    }
    pairs = [
        (_similarity(old, new), -number, -other_number, old, new)
        for number, old in enumerate(alignment.unmatched)
        for other_number, new in enumerate(alignment.missing)
        if type(old) is type(new) or not (hasattr(old, "body") or hasattr(new, "body") or isinstance(new, ast.Return))
    ]
    local_names = assigned_names(alignment.unit.node)
    replaced: list[Step] = []
    used_ids: set[int] = set()
    for likeness, _, _, old, new in sorted(pairs, key=lambda pair: pair[:3], reverse=True):
        if (
            likeness < MIN_SIMILARITY
            or {id(old), id(new)} & used_ids
            or names_in(_without_body(old)) & helpers
            or id(old) not in slots_by_id
        ):
            continue
        if bypasses_value(old, new, local_names):
            continue
        used_ids |= {id(old), id(new)}
        fields = HEAD_FIELDS.get(type(old))
        if fields:
            changes = tuple(Change(old, field, None, getattr(new, field)) for field in fields)
        else:
            changes = (Change(*slots_by_id[id(old)], new),)
        replaced.append(Step(changes, old.lineno))
    surplus = [
        Step((Change(*slots_by_id[id(old)], ast.Pass()),), old.lineno)
        for old in alignment.unmatched
        if id(old) not in used_ids
        and id(old) in slots_by_id
        and not names_in(old) & helpers
        and not isinstance(old, ast.Return)
    ]
    return replaced, surplus


def minimized(steps: Sequence[Step], mends: Callable[[Sequence[Step]], bool]) -> list[Step]:
    """The steps that are needed. mends: whether these steps alone make the checks pass; all together do."""
    needed_steps = list(steps)
    for step in steps:
        without_step = [other for other in needed_steps if other is not step]
        if without_step and mends(without_step):
            needed_steps = without_step
    return needed_steps


def _similarity(old: ast.stmt, new: ast.stmt) -> float:
    """The similarity of two statements, which is higher where both assign to the same target."""
    likeness = similarity(words(_without_body(old)), words(_without_body(new)))
    if not (isinstance(old, ast.Assign) and isinstance(new, ast.Assign)):
        return likeness
    targets = [[ast.unparse(target) for target in node.targets] for node in (old, new)]
    return likeness + SAME_TARGET * (targets[0] == targets[1])


def _without_body(node: ast.stmt) -> ast.AST:
    """A statement without the statements in it."""
    fields = HEAD_FIELDS.get(type(node))
    if not fields:
        return node
    values = [getattr(node, field) for field in fields]
    return ast.Tuple([value for value in values if isinstance(value, ast.expr)], ast.Load())
