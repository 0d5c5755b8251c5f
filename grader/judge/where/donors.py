"""Edits that put an expression or a statement of the solution in the place of the learner's, with the learner's names.

Repair with parts of a right program: Gulwani et al. 2018 (Clara, arXiv 1603.03165).
"""

import ast
from collections.abc import Iterator

from grader.judge.where.alignment import MAX_INLINED, Alignment, share, statements
from grader.judge.where.edits import Change, Edit
from grader.judge.where.expressions import Slot, slots
from grader.judge.where.guidance import words
from grader.judge.where.nodes import called, is_docstring, parameters
from grader.judge.where.statements import bodies
from grader.judge.where.vocabulary import MISSING

LEAST = 0.3  # of the words that a part shares with what comes into its place
MOST = 200  # pairs of an expression and another one
CLOSE = 0.6
MAX_INSERTED = 60


def donor_edits(alignment: Alignment, helpers: frozenset[str]) -> Iterator[Edit]:
    """The likeliest edits of this kind.

    helpers: the learner's own, which no edit goes round: the mistake may be there.
    """
    yield from _expressions(alignment, helpers)
    yield from _statements(alignment, helpers)
    yield from _surplus(alignment, helpers)
    yield from _parameters(alignment)
    if alignment.unit.node.name == "__init__":
        yield from _made_anew(alignment)


def _expressions(alignment: Alignment, helpers: frozenset[str]) -> Iterator[Edit]:
    donors, known, odd = [], set(), set(map(id, alignment.odd))
    loops = [node for node in ast.walk(alignment.unit.node) if isinstance(node, ast.For)]
    doubted = [loop for loop in loops if odd.intersection(id(part) for node in loop.body for part in ast.walk(node))]
    kept = {id(node) for loop in doubted for node in ast.walk(loop.iter)}  # to run otherwise goes round the mistake
    for node, _, _ in slots(alignment.twin.node):
        new = alignment.renamed(node)
        text = ast.unparse(new) if new is not None else ""
        if new is not None and text not in known and not isinstance(node, (ast.Slice, ast.Starred)):
            known.add(text)
            own_names = alignment.renamed(node, MAX_INLINED) is not None
            donors.append((new, words(new), text, own_names))
    pairs: list[tuple[float, int, ast.expr, Slot, ast.expr, int]] = []
    made = assigned(alignment.unit.node)
    for target, slot, around in slots(alignment.unit.node):
        if isinstance(target, (ast.Slice, ast.Starred)) or named(target) & helpers or id(target) in kept:
            continue
        own, mine = words(target), ast.unparse(target)
        is_value = isinstance(around, (ast.Assign, ast.Return))
        for new, theirs, text, own_names in donors:
            likeness = share(own, theirs)
            unused = isinstance(around, ast.Return) and goes_round(around, ast.Return(new), made)
            if likeness >= LEAST and text != mine and not unused:
                tier = 0 if likeness >= CLOSE and own_names else 1
                pairs.append((likeness + 0.05 * is_value, len(pairs), target, slot, new, tier))
    for _, _, target, slot, new, tier in sorted(pairs, key=lambda pair: pair[:2], reverse=True)[:MOST]:
        yield Edit((Change(*slot, new),), target.lineno, _kind(target), tier)


def _statements(alignment: Alignment, helpers: frozenset[str]) -> Iterator[Edit]:
    """Statements that the learner's definition lacks, in the place of one or between two.

    No return comes into a loop or before other statements, which would not be run any more.
    """
    inserted, made = 0, assigned(alignment.unit.node)
    for new in alignment.missing:
        theirs = words(new)
        likeliest = max((share(words(old), theirs) for old in statements(alignment.unit)), default=0.0)
        for parent, field, body in bodies(alignment.unit.node):
            for index, old in enumerate(body):
                if is_docstring(old):
                    continue
                before, after = body[:index], body[index + 1 :]
                likeness = share(words(old), theirs)
                fits = not hasattr(old, "body") and not named(old) & helpers and not goes_round(old, new, made)
                is_last = not after and parent is alignment.unit.node
                early = isinstance(new, ast.Return) and not isinstance(old, ast.Return) and not is_last
                if likeness >= LEAST and fits and not early:
                    change = Change(parent, field, None, [*before, new, *after])
                    yield Edit((change,), old.lineno, "a statement", 0 if likeness >= CLOSE else 1)
                if inserted < MAX_INSERTED and not isinstance(new, ast.Return):
                    inserted += 1
                    change = Change(parent, field, None, [*before, new, old, *after])
                    is_between = alignment.stands_between(new, before[-1:], old)
                    tier = 1 if likeliest < CLOSE else 2
                    yield Edit((change,), old.lineno, MISSING, tier - is_between)


def _surplus(alignment: Alignment, helpers: frozenset[str]) -> Iterator[Edit]:
    """Statements left out that the solution lacks: those that only do something, or change a value once more."""
    odd = {id(node) for node in alignment.odd}
    for parent, field, body in bodies(alignment.unit.node):
        for index, old in enumerate(body):
            again = isinstance(old, ast.AugAssign) or (
                isinstance(old, ast.Assign) and bool(named(old.targets[0]) & named(old.value))
            )
            if id(old) in odd and (again or isinstance(old, ast.Expr)) and not named(old) & helpers:
                rest = [*body[:index], *body[index + 1 :]] or [ast.Pass()]
                yield Edit((Change(parent, field, None, rest),), old.lineno, "a statement", 0)


def _parameters(alignment: Alignment) -> Iterator[Edit]:
    """A parameter under the solution's name, wherever it is read."""
    mine, theirs = alignment.unit.node, alignment.twin.node
    for own, other in zip(parameters(mine), parameters(theirs)):
        if own.arg != other.arg:
            places = [node for node in ast.walk(mine) if isinstance(node, ast.Name) and node.id == own.arg]
            changes = (Change(own, "arg", None, other.arg), *(Change(node, "id", None, other.arg) for node in places))
            yield Edit(changes, own.lineno, "the name of a parameter", 0)


def _made_anew(alignment: Alignment) -> Iterator[Edit]:
    """What the solution makes, in the place of a part of `self`: two names of one layer are one layer."""
    makers = {}
    for node, _, around in slots(alignment.twin.node):
        new = alignment.renamed(node) if isinstance(node, ast.Call) and isinstance(around, ast.Assign) else None
        if new is not None:
            makers[ast.unparse(new)] = new
    for target, slot, around in slots(alignment.unit.node):
        is_value = isinstance(around, ast.Assign) or (isinstance(around, ast.Call) and target in around.args)
        if is_value and isinstance(target, ast.Attribute) and "self" in named(target):
            for new in makers.values():
                yield Edit((Change(*slot, new),), target.lineno, "what is made there", 0)


def named(node: ast.AST) -> frozenset[str]:
    """The names and attributes in a piece of code."""
    return frozenset(str(getattr(part, "id", getattr(part, "attr", ""))) for part in ast.walk(node))


def assigned(unit: ast.AST) -> frozenset[str]:
    """The names that a definition binds in its body."""
    stored = (part for part in ast.walk(unit) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
    return frozenset(part.id for part in stored)


def goes_round(old: ast.stmt, new: ast.stmt, made: frozenset[str]) -> bool:
    """Whether a return of a variable of the learner's gives way to one that does not use it.

    All that was computed for it would go unused, and any of that may be wrong. made: the variables.
    """
    if not isinstance(old, ast.Return) or not isinstance(new, ast.Return) or not isinstance(old.value, ast.Name):
        return False
    return old.value.id in made and old.value.id not in named(new)


def _kind(target: ast.expr) -> str:
    if isinstance(target, ast.Call):
        return f"what {called(target)} is called with"
    return "an operation" if isinstance(target, (ast.BinOp, ast.Compare, ast.UnaryOp)) else "what is computed there"
