"""Edits that replace an expression or a statement by one of the solution's, with the learner's names."""

import ast
from collections.abc import Iterator

from grader.judge.where.alignment import MAX_INLINED, Alignment, parts, similarity, statements, words
from grader.judge.where.edits import COMPUTED, MISSING, Change, Edit, dump, stored_names
from grader.judge.where.expressions import Slot, slots
from grader.judge.where.statements import bodies
from grader.records.syntax import is_text

A_COMPARISON = "a comparison"
MIN_SIMILARITY = 0.3  # of a part to its replacement; less similar ones are not tried
HIGH_SIMILARITY = 0.6  # from here on an edit is among the likely ones
WHOLE_VALUE = 0.05  # what is added to the similarity of an expression that is all of an assigned or returned value
MAX_PAIRS = 200  # of an expression and its replacement
MAX_INSERTED = 60


def narrow(old: ast.expr, new: ast.AST) -> tuple[ast.expr, str]:
    """The innermost part of an expression that must change to make it another one, and what kind of change that is."""
    old, new = innermost(old, new)
    if not isinstance(old, ast.Constant) and _contains(new, old):
        return old, MISSING
    return old, A_COMPARISON if isinstance(old, ast.Compare) else COMPUTED


def innermost(old: ast.expr, new: ast.AST) -> tuple[ast.expr, ast.AST]:
    """The innermost part that must change, and what takes its place. Around it both are alike."""
    while difference := _only_difference(old, new):
        old_part, new_part = difference
        if isinstance(old_part, ast.keyword) and isinstance(new_part, ast.keyword) and old_part.arg == new_part.arg:
            old_part, new_part = old_part.value, new_part.value
        if not isinstance(old_part, ast.expr):
            break
        old, new = old_part, new_part
    return old, new


def values_of(old: object, new: object) -> tuple[ast.expr, ast.expr] | None:
    """The values of two returns, or of two assignments to the same targets; None for other statements."""
    for kind in (ast.Return, ast.Assign):
        if isinstance(old, kind) and isinstance(new, kind) and old.value is not None and new.value is not None:
            targets = [[*map(dump, getattr(one, "targets", ()))] for one in (old, new)]
            return (old.value, new.value) if targets[0] == targets[1] else None
    return None


def donor_edits(alignment: Alignment, helpers: frozenset[str]) -> Iterator[Edit]:
    """The likeliest edits with parts of the solution.

    helpers: names of the learner's own functions. No edit replaces a call of one, as the mistake may be in it.
    """
    yield from _expressions(alignment, helpers)
    yield from _statements(alignment, helpers)


def names_in(node: ast.AST) -> frozenset[str]:
    """The names and attributes in a piece of code."""
    return frozenset(str(getattr(child, "id", getattr(child, "attr", ""))) for child in ast.walk(node))


def assigned_names(unit: ast.AST) -> frozenset[str]:
    """The names that a definition binds in its body."""
    return frozenset(child.id for child in stored_names(unit))


def bypasses_value(old: ast.stmt, new: ast.stmt, local_names: frozenset[str]) -> bool:
    """Whether a return of local variables is replaced by a return that uses none of them.

    What was computed for them would be unused, and the mistake may be there. local_names: the local variables.
    """
    if not isinstance(old, ast.Return) or not isinstance(new, ast.Return) or old.value is None:
        return False
    values = old.value.elts if isinstance(old.value, (ast.Tuple, ast.List)) else [old.value]
    returned_names = {value.id for value in values if isinstance(value, ast.Name)} & local_names
    names = [child for child in ast.walk(new) if isinstance(child, ast.Name)]
    own_names = {name.id for name in names if isinstance(name.ctx, ast.Store)}  # of comprehensions
    return bool(returned_names) and not returned_names & ({name.id for name in names} - own_names)


def _only_difference(old: ast.AST, new: ast.AST) -> tuple[ast.AST, ast.AST] | None:
    """The one part in which two nodes differ; None where several do, or the nodes themselves."""
    differing = [pair for pair in parts(old, new) or () if dump(pair[0]) != dump(pair[1])]
    if len(differing) != 1:
        return None
    old_part, new_part = differing[0]
    if isinstance(old, ast.Call) and old_part is old.func:  # another function, or a method of another value
        if isinstance(old_part, ast.Attribute) and isinstance(new_part, ast.Attribute):
            return (old_part.value, new_part.value) if old_part.attr == new_part.attr else None
        return None
    return old_part, new_part


def _contains(whole: ast.AST, part: ast.AST) -> bool:
    part_text = ast.dump(part)
    return any(ast.dump(node) == part_text for node in ast.walk(whole) if node is not whole)


def _expressions(alignment: Alignment, helpers: frozenset[str]) -> Iterator[Edit]:
    donors, known_texts = [], set()
    for node, _, _ in slots(alignment.twin.node):
        new = alignment.rename(node)
        text = ast.unparse(new) if new is not None else ""
        if new is not None and text not in known_texts and not isinstance(node, (ast.Slice, ast.Starred)):
            known_texts.add(text)
            own_names = alignment.rename(node, MAX_INLINED) is not None
            donors.append((new, words(new), text, own_names))
    pairs: list[tuple[float, int, ast.expr, Slot, ast.expr, int]] = []
    local_names = assigned_names(alignment.unit.node)
    for target, slot, parent in slots(alignment.unit.node):
        if isinstance(target, (ast.Slice, ast.Starred)) or names_in(target) & helpers:
            continue
        is_test = isinstance(parent, (ast.If, ast.While, ast.IfExp)) and slot[1] == "test"
        target_words, target_text = words(target), ast.unparse(target)
        is_whole_value = isinstance(parent, (ast.Assign, ast.Return))
        for new, new_words, text, own_names in donors:
            score = similarity(target_words, new_words)
            leaves_unused = isinstance(parent, ast.Return) and bypasses_value(parent, ast.Return(new), local_names)
            # A plain value for a condition would switch to the branch without the mistake.
            switches_branch = is_test and not isinstance(new, (ast.Compare, ast.BoolOp))
            if score >= MIN_SIMILARITY and text != target_text and not (leaves_unused or switches_branch):
                tier = 0 if score >= HIGH_SIMILARITY and own_names else 1
                pairs.append((score + WHOLE_VALUE * is_whole_value, len(pairs), target, slot, new, tier))
    for _, _, target, slot, new, tier in sorted(pairs, key=lambda pair: pair[:2], reverse=True)[:MAX_PAIRS]:
        differing_part, kind = narrow(target, new)
        yield Edit((Change(*slot, new),), differing_part.lineno, kind, tier)


def _statements(alignment: Alignment, helpers: frozenset[str]) -> Iterator[Edit]:
    """Edits with statements that the learner's definition lacks: each replaces a statement or is inserted before one.

    No return is put into a loop or before other statements, which would not run any more.
    """
    inserted, local_names = 0, assigned_names(alignment.unit.node)
    for new in alignment.missing:
        new_words = words(new)
        likeliest = max((similarity(words(old), new_words) for old in statements(alignment.unit)), default=0.0)
        for parent, field, body in bodies(alignment.unit.node):
            for index, old in enumerate(body):
                if is_text(old):
                    continue
                before, after = body[:index], body[index + 1 :]
                score = similarity(words(old), new_words)
                is_replaceable = not (hasattr(old, "body") or names_in(old) & helpers)
                is_replaceable = is_replaceable and not bypasses_value(old, new, local_names)
                is_last = not after and parent is alignment.unit.node
                returns_early = isinstance(new, ast.Return) and not isinstance(old, ast.Return) and not is_last
                if score >= MIN_SIMILARITY and is_replaceable and not returns_early:
                    change = Change(parent, field, None, [*before, new, *after])
                    line, kind = _line_and_kind(old, new)
                    yield Edit((change,), line, kind, 0 if score >= HIGH_SIMILARITY else 1)
                if inserted < MAX_INSERTED and not isinstance(new, ast.Return):
                    inserted += 1
                    change = Change(parent, field, None, [*before, new, old, *after])
                    yield Edit((change,), old.lineno, MISSING, 1 if likeliest < HIGH_SIMILARITY else 2)


def _line_and_kind(old: ast.stmt, new: ast.stmt) -> tuple[int, str]:
    """The line on which a statement differs from the one in its place, and what kind of change that is."""
    values = values_of(old, new)
    if values is None:
        return old.lineno, "a statement"
    differing_part, kind = narrow(*values)
    return differing_part.lineno, kind
