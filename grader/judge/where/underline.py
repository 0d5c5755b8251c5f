"""The columns of the code that an edit touches, which a verdict underlines."""

import ast

from grader.judge.where.donors import innermost, values_of
from grader.judge.where.edits import Change, Edit, dump
from grader.records.evidence import Mark, end_of_code


def marks(edit: Edit, lines: list[str]) -> tuple[Mark, ...]:
    """What an edit changes on each of its lines. lines: of the source, before the edit."""
    found: dict[int, Mark] = {}
    for change in edit.changes:
        node, new = _touched(change)
        if node is not None and (mark := _mark(node, new, lines)):
            found.setdefault(mark[0], mark)
    named = tuple(dict.fromkeys((edit.line, *edit.lines)))
    return tuple(sorted(found.get(line, (line, 0, 0)) for line in named))


def _touched(change: Change) -> tuple[ast.AST | None, object]:
    """The innermost node that a change replaces, and what replaces it; None where it only puts something in."""
    old, new = change.old(), change.value
    if isinstance(old, list) and isinstance(new, list):
        pairs = [(one, other) for one, other in zip(old, new) if dump(one) != dump(other)]
        if len(old) < len(new) or len(pairs) > len(new):
            return None, new
        gone = next((one for one in old if not any(one is other for other in new)), None)
        if len(old) != len(new) or not pairs:
            return gone, None
        old, new = pairs[0]
    old, new = values_of(old, new) or (old, new)
    if isinstance(old, ast.expr) and isinstance(new, ast.AST):
        part, counterpart = innermost(old, new)
        around = next((node for node in ast.walk(old) if isinstance(node, ast.keyword) and node.value is part), None)
        if part is old and isinstance(change.parent, ast.keyword):
            around = change.parent
        return around or part, counterpart
    return (old, new) if isinstance(old, ast.AST) else (change.parent, new)


def _mark(node: ast.AST, new: object, lines: list[str]) -> Mark | None:
    """The line of a node, and its columns there."""
    if isinstance(node, ast.Call) and isinstance(new, ast.Call) and dump(node.func) == dump(new.func):
        kept = [dump(keyword) for keyword in new.keywords]
        gone = [keyword for keyword in node.keywords if dump(keyword) not in kept]
        node = gone[0] if len(gone) == 1 and len(node.args) == len(new.args) else node
    line = getattr(node, "lineno", 0)
    if not 0 < line <= len(lines):
        return None
    text = lines[line - 1]
    start, end = _column(text, node.col_offset), end_of_code(text)  # type: ignore[attr-defined]
    if operands := _around_an_operator(node, new):
        left, right = operands
        start, end = _column(text, left.end_col_offset or 0), _column(text, right.col_offset)
        between = text[start:end]
        start += len(between) - len(between.lstrip(" )"))
        end = max(start, end - len(between) + len(between.rstrip(" (")))
    elif not hasattr(node, "body") and node.end_lineno == line:  # type: ignore[attr-defined]
        end = _column(text, node.end_col_offset)  # type: ignore[attr-defined]
    return line, start, max(start, end)


def _around_an_operator(node: ast.AST, new: object) -> tuple[ast.expr, ast.expr] | None:
    """The operands on one line, where nothing but the operator between them is changed."""
    pairs = []
    for one in (node, new):
        if isinstance(one, ast.BinOp):
            pairs.append((one.left, one.right))
        elif isinstance(one, ast.Compare) and len(one.ops) == 1:
            pairs.append((one.left, one.comparators[0]))
    if len(pairs) < 2 or [*map(dump, pairs[0])] != [*map(dump, pairs[1])]:
        return None
    return pairs[0] if pairs[0][0].end_lineno == pairs[0][1].lineno == node.lineno else None  # type: ignore[attr-defined]


def _column(text: str, offset: int) -> int:
    """The character at an offset of bytes."""
    return len(text.encode()[:offset].decode(errors="ignore"))
